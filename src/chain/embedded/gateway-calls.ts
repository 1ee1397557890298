/** What the embedded chain's gateway answers: read calls and signed transactions. */
import { answeredMethods } from './answers/answers.ts';
import { sendsTransaction } from './answers/transactions.ts';

export interface Call {
  id: string | number;
  method: string;
  params: unknown[];
}

export interface Refusal {
  jsonrpc: '2.0';
  id: string | number | null;
  error: { code: number; message: string; data?: unknown };
}

/** EIP-1474: resource unavailable; worth retrying. */
export const unavailable = -32002;
export const invalidRequest = -32600;
const unknownMethod = -32601;
const invalidParameters = -32602;

const mostCalls = 100;

/** The calls in their order, each to be answered or already refused; or one refusal of the whole request. */
export function readCalls(text: string): { batch: boolean; calls: (Call | Refusal)[] } | Refusal {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return refusal(null, { code: -32700, message: 'the body is not JSON' });
  }
  if (!Array.isArray(body)) return { batch: false, calls: [readCall(body)] };
  if (body.length === 0 || body.length > mostCalls) {
    return refusal(null, { code: invalidRequest, message: `a batch must have 1 to ${mostCalls} calls` });
  }
  return { batch: true, calls: body.map(readCall) };
}

export function refusal(id: Refusal['id'], error: Refusal['error']): Refusal {
  return { jsonrpc: '2.0', id, error };
}

function readCall(value: unknown): Call | Refusal {
  const { jsonrpc, id, method, params } = (value ?? {}) as Record<string, unknown>;
  const named = typeof id === 'string' || Number.isSafeInteger(id) ? (id as string | number) : null;
  if (named === null || jsonrpc !== '2.0' || typeof method !== 'string') {
    return refusal(named, {
      code: invalidRequest,
      message: 'a call needs jsonrpc "2.0", an id that is a string or a whole number, and a method',
    });
  }
  if (!answeredMethods.has(method)) return refusal(named, { code: unknownMethod, message: explain(method) });
  if (!Array.isArray(params ?? [])) {
    return refusal(named, { code: invalidParameters, message: 'params must be an array' });
  }
  return { id: named, method, params: (params ?? []) as unknown[] };
}

function explain(method: string): string {
  return (
    `${method.slice(0, 64)} is not allowed: this gateway accepts the methods of eth_, net_ and web3_ that read, and ` +
    `${sendsTransaction}. The chain is rebuilt from its journal and must not be changed from outside.`
  );
}
