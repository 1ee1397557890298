/**
 * How many requests one endpoint gets at a time. The cap starts small, grows with every success, and falls to one when
 * the endpoint fails. It only delays attempts; it never skips, counts or forgets one.
 */

export interface Lane<Job> {
  /** How many more jobs it would accept now. */
  room(now: number): number;
  add(jobs: Job[], now: number): void;
  /** The jobs that may start now, at most `most`; each must be followed by `finished`. */
  start(now: number, most?: number): Job[];
  finished(succeeded: boolean, now: number): void;
  /** When the rate limit allows the next start; null when no job waits for it. */
  nextStartAt(): number | null;
  setRate(perSecond: number | null): void;
  /** Removes and returns jobs that have not started, from the front, up to the first one that `which` rejects. */
  takeBack(which: (job: Job) => boolean): Job[];
  /** True when the cap is reached and no request has finished for a while: nothing should wait behind it. */
  stalled(now: number): boolean;
  waiting(): number;
  /** Since when nothing has been waiting or in flight; null while something is. */
  idleSince(): number | null;
}

export const firstCap = 8;
export const largestCap = 64;
/** After this many failures in a row the cap falls to one. */
const failuresToBreak = 3;
/** An endpoint that responds may hold up to this many times its cap here, so that it never waits for the database. */
const ahead = 8;
const stallMs = 1_000;
/** But no more than it completes in about this time, as other nodes cannot take what it holds. */
const stockMs = 1_000;
/** How late a busy node may be for a turn and still catch up: otherwise it would never reach a high rate limit. */
const lateMs = 50;

export function createLane<Job>(): Lane<Job> {
  const waiting: Job[] = [];
  let inFlight = 0;
  let cap = firstCap;
  let failures = 0;
  let spacingMs = 0;
  let freeAt = 0;
  /** Requests finished in the current period, and in the one before. */
  let since = 0;
  let came = 0;
  let cameBefore = 0;
  let movedAt = 0;

  const stalled = (now: number) => inFlight >= cap && now - movedAt > stallMs;

  return {
    room(now) {
      const speed = now - since > 2 * stockMs ? 0 : Math.max(came, cameBefore);
      const most = stalled(now) ? cap : Math.min(cap * ahead, cap + speed);
      // With a rate limit, hold at most one second's worth.
      const wanted = spacingMs > 0 ? Math.min(most, Math.ceil(1000 / spacingMs)) : most;
      return Math.max(0, wanted - inFlight - waiting.length);
    },
    add(jobs, now) {
      if (inFlight === 0 && waiting.length === 0) {
        movedAt = now;
        // Unused turns expire: the first second after an idle time allows no more starts than any other.
        freeAt = Math.max(freeAt, now - spacingMs);
      }
      waiting.push(...jobs);
    },
    start(now, most = largestCap) {
      let count = Math.min(cap - inFlight, waiting.length, most);
      if (spacingMs > 0 && count > 0) {
        // Catches up on turns that this node was late for, but not on those missed through a slow receiver.
        freeAt = Math.max(freeAt, now - Math.max(spacingMs, lateMs));
        count = Math.min(count, Math.floor((now - freeAt) / spacingMs));
        freeAt += count * spacingMs;
      }
      if (count <= 0) return [];
      inFlight += count;
      return waiting.splice(0, count);
    },
    finished(succeeded, now) {
      inFlight -= 1;
      movedAt = now;
      if (now - since > stockMs) {
        cameBefore = now - since > 2 * stockMs ? 0 : came;
        came = 0;
        since = now;
      }
      came += 1;
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
    takeBack(which) {
      const end = waiting.findIndex((job) => !which(job));
      return end === 0 ? [] : waiting.splice(0, end === -1 ? waiting.length : end);
    },
    stalled,
    waiting: () => waiting.length,
    idleSince: () => (inFlight === 0 && waiting.length === 0 ? movedAt : null),
  };
}
