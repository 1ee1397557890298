/** When a failed delivery is retried: fixed steps with jitter, within 24 hours of the first attempt. */

const retryWindowMs = 24 * 60 * 60 * 1000;

export interface FailedAttempt {
  /** Attempts made so far, including this one. */
  attempts: number;
  firstAttemptAt: number;
  now: number;
  /** The receiver's Retry-After, if it sent one. */
  retryAfterMs: number | null;
}

/** Milliseconds since 1970, or null when the retries are used up. */
export function nextAttemptAt(
  stepsMs: number[],
  failed: FailedAttempt,
  random: () => number = Math.random,
): number | null {
  const step = stepsMs[failed.attempts - 1];
  const last = failed.firstAttemptAt + retryWindowMs;
  if (step === undefined || failed.now >= last) return null;
  // ±20 %, so that deliveries that failed together are not retried together.
  const jittered = step * (0.8 + 0.4 * random());
  const wanted = failed.now + Math.max(jittered, failed.retryAfterMs ?? 0);
  return Math.min(wanted, last);
}

/** `Retry-After` as seconds or as a date; null when it is neither. */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  // Date.parse alone accepts almost any number as a year.
  const at = /\bGMT$/.test(header.trim()) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
