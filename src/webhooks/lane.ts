/**
 * How much one endpoint gets at a time. It starts small, grows with every success, and falls to one request at a time
 * when the endpoint fails: that spaces attempts, and never skips, counts or forgets one.
 */

export interface Lane<Job> {
  /** How many more jobs it would take now. */
  room(): number;
  add(jobs: Job[]): void;
  /** The jobs that may start now; each must be followed by `finished`. */
  start(now: number): Job[];
  finished(succeeded: boolean): void;
  /** When the rate limit lets the next one start; null when nothing waits for it. */
  nextStartAt(): number | null;
  setRate(perSecond: number | null): void;
  /** Takes back what has not been started, from the front as far as `which` holds. */
  drain(which: (job: Job) => boolean): Job[];
  idle(): boolean;
}

export const firstCap = 8;
export const largestCap = 64;
/** After so many failures in a row the endpoint counts as failing. */
const failuresToBreak = 3;
/** A fast endpoint may have this many times its cap here, so that it never waits for the database. */
const ahead = 8;

export function createLane<Job>(): Lane<Job> {
  let waiting: Job[] = [];
  let inFlight = 0;
  let cap = firstCap;
  let failures = 0;
  let spacingMs = 0;
  let freeAt = 0;

  return {
    room() {
      const wanted = cap === largestCap ? cap * ahead : cap;
      return Math.max(0, wanted - inFlight - waiting.length);
    },
    add(jobs) {
      waiting.push(...jobs);
    },
    start(now) {
      let count = Math.min(cap - inFlight, waiting.length);
      if (spacingMs > 0 && count > 0) {
        // Up to a second's worth of unused turns may be made up for.
        freeAt = Math.max(freeAt, now - 1000);
        count = Math.min(count, Math.floor((now - freeAt) / spacingMs));
        freeAt += count * spacingMs;
      }
      if (count <= 0) return [];
      inFlight += count;
      const started = waiting.slice(0, count);
      waiting = waiting.slice(count);
      return started;
    },
    finished(succeeded) {
      inFlight -= 1;
      if (succeeded) {
        failures = 0;
        cap = Math.min(largestCap, cap + 1);
      } else {
        failures += 1;
        cap = failures >= failuresToBreak ? 1 : Math.max(1, Math.floor(cap / 2));
      }
    },
    nextStartAt() {
      return spacingMs > 0 && waiting.length > 0 && inFlight < cap ? freeAt + spacingMs : null;
    },
    setRate(perSecond) {
      spacingMs = perSecond === null ? 0 : 1000 / perSecond;
    },
    drain(which) {
      const end = waiting.findIndex((job) => !which(job));
      return waiting.splice(0, end === -1 ? waiting.length : end);
    },
    idle: () => inFlight === 0 && waiting.length === 0,
  };
}
