/**
 * The lanes of a node, one for each endpoint it has deliveries for. They share what the node can do at once in turns;
 * a receiver that does not answer gives up its share after a second.
 */
import { createLane, type Lane } from './lane.ts';

export interface LanesOptions<Job> {
  /** Never rejects; true when it went well. */
  run(job: Job): Promise<boolean>;
  /** Told when an endpoint that may have more to send has little left here. */
  onWanting(): void;
  /** Taken back instead of started: it has waited here for too long. */
  isStale(job: Job, now: number): boolean;
  onTakenBack(jobs: Job[]): void;
}

export interface Lanes<Job> {
  /** How many more jobs each known endpoint would take. */
  room(now: number): { endpointId: string; free: number }[];
  /** `more`: there may be further jobs for this endpoint. */
  add(endpointId: string, batch: { jobs: Job[]; rateLimit: number | null; more: boolean }): void;
  /** Takes back what stands behind a receiver that does not answer, and forgets endpoints that had nothing for long. */
  sweep(now: number): void;
  /** Takes back all that has not been started. */
  empty(): void;
  /** Endpoints with jobs that wait. */
  waitingEndpoints(): string[];
  waiting(): number;
  inFlight(): number;
}

interface Entry<Job> {
  lane: Lane<Job>;
  more: boolean;
  /** It has asked for a turn. */
  queued: boolean;
  timer: NodeJS.Timeout | null;
}

/** Requests at once over all endpoints, those that take longer than a second left out: more only wait for each other. */
const mostActive = 128;
const slowMs = 1_000;
/** How an endpoint fares and how much it may have is remembered for so long after its last delivery. */
const rememberMs = 10 * 60 * 1000;
/** When so many are remembered, those that have nothing go at once. */
const mostRemembered = 10_000;

export function createLanes<Job>({ run, onWanting, isStale, onTakenBack }: LanesOptions<Job>): Lanes<Job> {
  const entries = new Map<string, Entry<Job>>();
  const turns: Entry<Job>[] = [];
  let inFlight = 0;
  let active = 0;
  let sharing = false;

  function ask(entry: Entry<Job>): void {
    if (entry.queued) return;
    entry.queued = true;
    turns.push(entry);
    share();
  }

  /** Starts jobs of the endpoints in their turn, while there is anything to share. */
  function share(): void {
    // A job that starts may finish at once and come back here.
    if (sharing) return;
    sharing = true;
    while (active < mostActive) {
      const entry = turns.shift();
      if (!entry) break;
      entry.queued = false;
      start(entry);
    }
    sharing = false;
  }

  function start(entry: Entry<Job>): void {
    const { lane } = entry;
    const now = Date.now();
    const stale = lane.takeBack((job) => isStale(job, now));
    if (stale.length > 0) onTakenBack(stale);
    const [job] = lane.start(now, 1);
    if (job !== undefined) {
      void follow(entry, job);
      entry.queued = true;
      turns.push(entry);
      return;
    }
    const next = lane.nextStartAt();
    if (next === null || entry.timer !== null) return;
    entry.timer = setTimeout(
      () => {
        entry.timer = null;
        ask(entry);
      },
      Math.max(1, next - now),
    ).unref();
  }

  async function follow(entry: Entry<Job>, job: Job): Promise<void> {
    const { lane } = entry;
    inFlight += 1;
    active += 1;
    let counted = true;
    const leave = () => {
      if (counted) active -= 1;
      counted = false;
    };
    const slow = setTimeout(() => {
      leave();
      share();
    }, slowMs);
    const succeeded = await run(job);
    clearTimeout(slow);
    leave();
    inFlight -= 1;
    lane.finished(succeeded, Date.now());
    ask(entry);
    share();
    // Asked for while there is still something to send, so that it does not run dry meanwhile.
    if (entry.more && lane.waiting() <= lane.inFlight()) {
      entry.more = false;
      onWanting();
    }
  }

  return {
    room: (now) => [...entries].map(([endpointId, { lane }]) => ({ endpointId, free: lane.room(now) })),
    add(endpointId, { jobs, rateLimit, more }) {
      const entry = entries.get(endpointId) ?? { lane: createLane<Job>(), more, queued: false, timer: null };
      entries.set(endpointId, entry);
      entry.more = more;
      entry.lane.setRate(rateLimit);
      entry.lane.add(jobs, Date.now());
      ask(entry);
    },
    sweep(now) {
      const keptMs = entries.size > mostRemembered ? 0 : rememberMs;
      for (const [endpointId, { lane }] of entries) {
        if (lane.stalled(now)) {
          const behind = lane.takeBack(() => true);
          if (behind.length > 0) onTakenBack(behind);
        }
        const idleSince = lane.idleSince();
        if (idleSince !== null && now - idleSince > keptMs) entries.delete(endpointId);
      }
    },
    empty() {
      for (const { lane } of entries.values()) onTakenBack(lane.takeBack(() => true));
    },
    waitingEndpoints: () => [...entries].filter(([, { lane }]) => lane.waiting() > 0).map(([id]) => id),
    waiting: () => entries.values().reduce((sum, { lane }) => sum + lane.waiting(), 0),
    inFlight: () => inFlight,
  };
}
