/** How often one authority is asked: never more often than its limit allows, and ever less often while it fails. */

export interface Pace {
  /** When the next request may be made. */
  dueAt(): number;
  /** Whether the last request succeeded, or none was made yet. */
  isHealthy(): boolean;
  /** After the requests of this process before, or of another node. Null: there was none. */
  resume(last: { agoMs: number; failures: number } | null): void;
  begin(): void;
  succeed(): void;
  fail(): void;
}

export interface PaceOptions {
  /** From one request to the next. */
  spacingMs: number;
  /** Milliseconds since 1970. */
  now(): number;
}

const firstPauseMs = 5_000;
const longestPauseMs = 300_000;

export function createPace({ spacingMs, now }: PaceOptions): Pace {
  let lastAt = Number.NEGATIVE_INFINITY;
  let failures = 0;
  return {
    dueAt() {
      // After the clock was set back, the pause does not last longer than it would have.
      lastAt = Math.min(lastAt, now());
      const pauseMs = failures === 0 ? 0 : Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs);
      return lastAt + Math.max(spacingMs, pauseMs);
    },
    isHealthy: () => failures === 0,
    resume(last) {
      lastAt = last === null ? Number.NEGATIVE_INFINITY : now() - Math.max(0, last.agoMs);
      failures = last?.failures ?? 0;
    },
    begin() {
      lastAt = now();
    },
    succeed() {
      failures = 0;
    },
    fail() {
      failures += 1;
    },
  };
}
