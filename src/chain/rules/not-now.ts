/**
 * "Not now": the answer of a node that is overloaded, or has no chain at the moment. It says nothing about the request
 * itself, and the same call is worth retrying. Uses no Node.js API.
 */
import type { RpcCall } from './rpc-call.ts';

/** Providers report rate limits as -32005 (EIP-1474), or with codes of their own. */
export const limitCodes = new Set([429, -32005, -32007, -32016]);
/** EIP-1474: resource unavailable. */
const unavailableCode = -32002;
const usualMs = 1_000;

/** How long to wait before a retry, as the answer says or else the usual time; null for any other answer. */
export function retryAfterMs(
  { status, code }: { status: number; code?: unknown },
  header: string | null | undefined,
): number | null {
  const saysSo = code === unavailableCode || limitCodes.has(code as number);
  if (status !== 429 && status !== 503 && !saysSo) return null;
  // The header may also be a date, which is not worth parsing: the usual time will do.
  return Number(header) * 1_000 || usualMs;
}

export class NotNow extends Error {
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super(message);
    this.name = 'NotNow';
    this.retryAfterMs = retryAfterMs;
  }
}

/** Whether the error, or its cause, is a "not now". */
export function isNotNow(error: unknown): boolean {
  return waitOf(error) !== null;
}

export interface Patience {
  /** Retries for all calls together. */
  mostAgain: number;
  longestPauseMs: number;
}

/** Retries calls after "not now" until the retries are used up, then throws the last error. */
export function askAgain(call: RpcCall, { mostAgain, longestPauseMs }: Patience): RpcCall {
  let again = 0;
  return async function ask(method, params) {
    try {
      return await call(method, params);
    } catch (error) {
      const waitMs = waitOf(error);
      if (waitMs === null || again >= mostAgain) throw error;
      again += 1;
      await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, longestPauseMs)));
      return ask(method, params);
    }
  };
}

function waitOf(error: unknown): number | null {
  if (!(error instanceof Error)) return null;
  const { retryAfterMs } = error as { retryAfterMs?: unknown };
  return typeof retryAfterMs === 'number' ? retryAfterMs : waitOf(error.cause);
}
