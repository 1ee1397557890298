/** One JSON-RPC call over HTTP: a deadline for the whole exchange, and a single classification of its errors. */
import { Agent, request } from 'undici';
import { limitCodes, retryAfterMs } from '../rules/not-now.ts';

/**
 * - `unreachable`: connection refused or reset, timeout, a gateway's error page
 * - `limited`: too many requests
 * - `bad_answer`: not JSON-RPC, truncated, or an internal error of the node
 * - `wrong_chain`: the node answers, but for another chain
 * - `refused`: the node rejected this call: a contract reverted, a transaction is invalid, or the node lacks the data
 */
export type RpcFaultKind = 'unreachable' | 'limited' | 'bad_answer' | 'wrong_chain' | 'refused';

export interface RpcFaultOptions {
  code?: number | undefined;
  data?: unknown;
  cause?: unknown;
  retryAfterMs?: number | null;
}

/** Every failure of a call. `code` and `data` come from the node, if it sent them. */
export class RpcFault extends Error {
  readonly kind: RpcFaultKind;
  readonly code: number | undefined;
  /** Set if the node said "not now". */
  readonly retryAfterMs: number | null;
  declare readonly data?: unknown;

  constructor(
    kind: RpcFaultKind,
    message: string,
    { code, data, cause, retryAfterMs = null }: RpcFaultOptions = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'RpcFault';
    this.kind = kind;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
    // viem searches the chain of causes for an error with `data`, to decode why a contract reverted.
    if (data !== undefined) this.data = data;
  }
}

/** The fault inside an error, even if viem wrapped it. */
export function rpcFaultOf(error: unknown): RpcFault | null {
  if (error instanceof RpcFault) return error;
  return error instanceof Error ? rpcFaultOf(error.cause) : null;
}

/** Whether the same call may succeed later. False for errors that are not RPC faults. */
export function isRetryable(error: unknown): boolean {
  const kind = rpcFaultOf(error)?.kind;
  return kind === 'unreachable' || kind === 'limited' || kind === 'bad_answer';
}

export interface JsonRpc {
  call<T>(url: string, method: string, params?: readonly unknown[]): Promise<T>;
  close(): Promise<void>;
}

export interface JsonRpcOptions {
  timeoutMs: number;
  maxAnswerBytes: number;
}

/**
 * viem's own HTTP transport is not used, because its timeout ends with the headers, so that a slow body can hang the
 * call forever; because it takes an empty response for a missing result; and because its errors repeat the URL, which
 * with most providers contains the customer's key.
 */
export function createJsonRpc({ timeoutMs, maxAnswerBytes }: JsonRpcOptions): JsonRpc {
  const agent = new Agent({ maxResponseSize: maxAnswerBytes, headersTimeout: 0, bodyTimeout: 0 });
  let lastId = 0;

  return {
    async call<T>(address: string, method: string, params: readonly unknown[] = []) {
      lastId += 1;
      const id = lastId;
      const { url, headers } = splitCredentials(address);
      const where = `${method} at ${url.host}`;
      let status: number;
      let retryAfter: string | undefined;
      let text: string;
      try {
        const response = await request(url, {
          dispatcher: agent,
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ jsonrpc: '2.0', id, method, params }, bigintsAsHex),
          signal: AbortSignal.timeout(timeoutMs),
        });
        status = response.statusCode;
        retryAfter = [response.headers['retry-after']].flat()[0];
        text = await response.body.text();
      } catch (cause) {
        throw new RpcFault('unreachable', `${where}: ${reasonOf(cause, timeoutMs)}`, { cause });
      }
      return readAnswer<T>(text, { status, id, where, retryAfter });
    },
    close: () => agent.destroy(),
  };
}

interface RpcResponse {
  id?: unknown;
  result?: unknown;
  error?: { code?: unknown; message?: unknown; data?: unknown };
}

interface Heard {
  status: number;
  id: number;
  where: string;
  retryAfter: string | undefined;
}

function readAnswer<T>(text: string, { status, id, where, retryAfter }: Heard): T {
  const response = parse(text);
  const notNow = { retryAfterMs: retryAfterMs({ status, code: response?.error?.code }, retryAfter) };
  if (response?.error && typeof response.error.code === 'number') {
    const { code, message, data } = response.error as { code: number; message?: unknown; data?: unknown };
    throw new RpcFault(kindOf(code, data), `${where}: ${String(message)} (${code})`, {
      code,
      data,
      ...notNow,
    });
  }
  if (status === 429) throw new RpcFault('limited', `${where}: HTTP status 429`, notNow);
  if (status !== 200) throw new RpcFault('unreachable', `${where}: HTTP status ${status}`, notNow);
  if (response === null || response.result === undefined || response.id !== id) {
    throw new RpcFault('bad_answer', `${where}: the response is not JSON-RPC`);
  }
  return response.result as T;
}

function parse(text: string): RpcResponse | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as RpcResponse) : null;
  } catch {
    return null;
  }
}

/** Parse error, internal error, not found (a lagging node), unavailable. */
const nodeCodes = new Set([-32700, -32603, -32001, -32002]);

function kindOf(code: number, data: unknown): RpcFaultKind {
  if (limitCodes.has(code)) return 'limited';
  // Some nodes report a revert as an internal error, but with data.
  return nodeCodes.has(code) && data === undefined ? 'bad_answer' : 'refused';
}

function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${timeoutMs} ms`;
  return error.message || String((error as { code?: unknown }).code);
}

function splitCredentials(address: string): { url: URL; headers: Record<string, string> } {
  const url = new URL(address);
  if (url.username === '' && url.password === '') return { url, headers: {} };
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = '';
  url.password = '';
  return { url, headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } };
}

function bigintsAsHex(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `0x${value.toString(16)}` : value;
}
