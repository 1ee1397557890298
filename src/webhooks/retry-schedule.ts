/** When a failed delivery is tried again: fixed steps with jitter, inside 24 hours from the first attempt. */

export interface RetryPlan {
  /** Waiting time before each retry. */
  stepsMs: number[];
}

export const retryWindowMs = 24 * 60 * 60 * 1000;
export const maxRetries = 5;

export interface FailedAttempt {
  /** How many attempts have been made, this one included. */
  attempts: number;
  firstAttemptAt: number;
  now: number;
  /** What the receiver asked for, if it did. */
  retryAfterMs: number | null;
}

/** Milliseconds since 1970, or null when the retries are used up. */
export function nextAttemptAt(
  plan: RetryPlan,
  failed: FailedAttempt,
  random: () => number = Math.random,
): number | null {
  const step = plan.stepsMs[failed.attempts - 1];
  if (step === undefined) return null;
  // ±20 %, so that deliveries that failed together do not come back together.
  const jittered = step * (0.8 + 0.4 * random());
  const wanted = failed.now + Math.max(jittered, failed.retryAfterMs ?? 0);
  return Math.max(failed.now, Math.min(wanted, failed.firstAttemptAt + retryWindowMs));
}

/** `Retry-After` as seconds or as a date; null when it is neither. */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** `30s,5m,30m,3h,12h`; null when it is not a usable schedule: at most five steps, 24 hours in all. */
export function parseRetrySchedule(text: string): RetryPlan | null {
  const stepsMs = text.split(',').map((step) => {
    const match = /^(\d{1,6})(ms|s|m|h)$/.exec(step.trim());
    return match ? Number(match[1]) * units[match[2] as keyof typeof units] : Number.NaN;
  });
  const total = stepsMs.reduce((sum, step) => sum + step, 0);
  return stepsMs.length <= maxRetries && total <= retryWindowMs ? { stepsMs } : null;
}
