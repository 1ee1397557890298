/**
 * "Not now": the answer of a node that has no time, or no chain, for the moment. It says nothing about what was asked, and
 * the same call is worth making again. Uses nothing of Node.js.
 */
import type { RpcCall } from './rpc-call.ts';

/** Limits of providers come as -32005 by EIP-1474, or under codes of their own. */
export const limitCodes = new Set([429, -32005, -32007, -32016]);
/** In EIP-1474: what is needed is not available. */
const unavailableCode = -32002;
const usualMs = 1_000;

/** How long to wait before the next try, as the answer says it or as is usual; null for any other answer. */
export function retryAfterMs(
  { status, code }: { status: number; code?: unknown },
  header: string | null | undefined,
): number | null {
  const saysSo = code === unavailableCode || limitCodes.has(code as number);
  if (status !== 429 && status !== 503 && !saysSo) return null;
  // It may also be a date, which nobody here needs to understand: the usual time will do.
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

/** Whether the error, or what caused it, is such an answer. */
export function isNotNow(error: unknown): boolean {
  return waitOf(error) !== null;
}

export interface Patience {
  /** Of all calls together. */
  mostAgain: number;
  longestPauseMs: number;
}

/** Makes a call again after "not now", as long as there is patience left; then what was said last is thrown. */
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
