/** Whether and when a failed request is sent again. */
import { ConnectionError, HoldfastError } from './holdfast-error.ts';

/** A service that asks for more than this is not waited for. */
const longestWaitMs = 120_000;
const firstPauseMs = 500;
const longestPauseMs = 30_000;

/** The service did nothing of these requests, so that anyone may send them again. */
const notDone = new Set([429, 503]);
/** These may have been carried out, wholly or not at all. */
const maybeDone = new Set([408, 500, 502, 504]);

/** Milliseconds to wait before the next attempt; null: do not try again. `attempt` counts from 0. */
export function pauseBefore(error: unknown, attempt: number, isRepeatable: boolean): number | null {
  if (error instanceof ConnectionError) return isRepeatable ? backoff(attempt) : null;
  if (!(error instanceof HoldfastError)) return null;
  const { status, errorCode, retryAfterMs } = error;
  const isWorthIt =
    notDone.has(status) || errorCode === 'idempotency_in_progress' || (isRepeatable && maybeDone.has(status));
  if (!isWorthIt || (retryAfterMs ?? 0) > longestWaitMs) return null;
  return retryAfterMs ?? backoff(attempt);
}

/** Doubles each time; the random part keeps clients from coming back all at once. */
function backoff(attempt: number): number {
  const full = Math.min(longestPauseMs, firstPauseMs * 2 ** attempt);
  return full * (0.5 + Math.random() / 2);
}

/** Rejects with the reason of the signal as soon as it is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
