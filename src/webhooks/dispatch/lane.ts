/**
 * How much one endpoint gets at a time. It starts small, grows with every success, and falls to one request at a time
 * when the endpoint fails: that spaces attempts, and never skips, counts or forgets one.
 */

export interface Lane<Job> {
  /** How many more jobs it would take now. */
  room(now: number): number;
  add(jobs: Job[], now: number): void;
  /** The jobs that may start now, up to so many; each must be followed by `finished`. */
  start(now: number, most?: number): Job[];
  finished(succeeded: boolean, now: number): void;
  /** When the rate limit lets the next one start; null when nothing waits for it. */
  nextStartAt(): number | null;
  setRate(perSecond: number | null): void;
  /** Takes back those that have not been started, from the front, up to the first that it may keep. */
  takeBack(which: (job: Job) => boolean): Job[];
  /** True when all it may send is under way and nothing came back for a while: nothing should wait behind that. */
  stalled(now: number): boolean;
  waiting(): number;
  /** Since when nothing is waiting or under way; null while something is. */
  idleSince(): number | null;
}

export const firstCap = 8;
export const largestCap = 64;
/** After so many failures in a row the endpoint counts as failing. */
const failuresToBreak = 3;
/** An endpoint that answers may have up to this many times its cap here, so that it never waits for the database. */
const ahead = 8;
const stallMs = 1_000;
/** But no more than it gets through in about this time: what it holds others cannot have. */
const stockMs = 1_000;
/** How late a busy node may be at a turn: with shorter ones it would never get to what is allowed. */
const lateMs = 50;

export function createLane<Job>(): Lane<Job> {
  const waiting: Job[] = [];
  let inFlight = 0;
  let cap = firstCap;
  let failures = 0;
  let spacingMs = 0;
  let freeAt = 0;
  /** How many came back in this stretch of time, and in the one before. */
  let since = 0;
  let came = 0;
  let cameBefore = 0;
  let movedAt = 0;

  const stalled = (now: number) => inFlight >= cap && now - movedAt > stallMs;

  return {
    room(now) {
      const speed = now - since > 2 * stockMs ? 0 : Math.max(came, cameBefore);
      const most = stalled(now) ? cap : Math.min(cap * ahead, cap + speed);
      // Of what is limited to few a second no more than a second's worth is taken here.
      const wanted = spacingMs > 0 ? Math.min(most, Math.ceil(1000 / spacingMs)) : most;
      return Math.max(0, wanted - inFlight - waiting.length);
    },
    add(jobs, now) {
      if (inFlight === 0 && waiting.length === 0) {
        movedAt = now;
        // Turns that nobody needed are gone: the first second after a rest has no more of them than any other.
        freeAt = Math.max(freeAt, now - spacingMs);
      }
      waiting.push(...jobs);
    },
    start(now, most = largestCap) {
      let count = Math.min(cap - inFlight, waiting.length, most);
      if (spacingMs > 0 && count > 0) {
        // A turn that came a little late is made up for; a receiver that was slow has missed its own.
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
      return waiting.splice(0, end === -1 ? waiting.length : end);
    },
    stalled,
    waiting: () => waiting.length,
    idleSince: () => (inFlight === 0 && waiting.length === 0 ? movedAt : null),
  };
}
