/**
 * The lanes of a node, one for each endpoint it has deliveries for. In turns they share what the node can do at once;
 * a request that has to wait for its receiver takes no part in that.
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
  /** From then on a request counts as one that waits for its receiver. */
  waitsAfterMs?: number;
}

export interface Lanes<Job> {
  /** How many more jobs each known endpoint would take; of `limit` those with more to send get equal shares. */
  room(now: number, limit: number): { endpointId: string; free: number }[];
  /** `more`: there may be further jobs for this endpoint. */
  add(endpointId: string, batch: { jobs: Job[]; rateLimit: number | null; more: boolean }): void;
  /** There is nothing more to be had for these now. */
  noMore(endpointIds: Iterable<string>): void;
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
  /** More are asked for when no more than these are left, so that it does not run dry meanwhile. */
  fewLeft: number;
  asked: boolean;
  /** It waits for its turn. */
  queued: boolean;
  timer: NodeJS.Timeout | null;
}

/** Requests at once over all endpoints, without those that wait for their receiver: more would only slow each other. */
const mostActive = 64;
const usualWaitsAfterMs = 25;
/** How an endpoint fares and how much it may have is remembered for so long after its last delivery. */
const rememberMs = 10 * 60 * 1000;
/** When so many are remembered, those that have nothing go at once. */
const mostRemembered = 10_000;

export function createLanes<Job>({
  run,
  onWanting,
  isStale,
  onTakenBack,
  waitsAfterMs = usualWaitsAfterMs,
}: LanesOptions<Job>): Lanes<Job> {
  const entries = new Map<string, Entry<Job>>();
  const turns: Entry<Job>[] = [];
  let inFlight = 0;
  /** In the order in which they started. */
  const active = new Set<{ startedAt: number }>();
  let clock: NodeJS.Timeout | null = null;

  function ask(entry: Entry<Job>): void {
    if (entry.queued) return;
    entry.queued = true;
    turns.push(entry);
    share();
  }

  /** Starts jobs of the endpoints in their turn, while there is anything to share. */
  function share(): void {
    while (active.size < mostActive) {
      const entry = turns.shift();
      if (!entry) break;
      entry.queued = false;
      start(entry);
    }
  }

  /** Those that wait for their receiver make room for others. */
  function leaveWaiting(): void {
    const before = performance.now() - waitsAfterMs;
    for (const request of active) {
      if (request.startedAt > before) break;
      active.delete(request);
    }
    if (active.size === 0 && clock) {
      clearInterval(clock);
      clock = null;
    }
    share();
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
    const request = { startedAt: performance.now() };
    inFlight += 1;
    active.add(request);
    clock ??= setInterval(leaveWaiting, waitsAfterMs / 2);
    const succeeded = await run(job);
    active.delete(request);
    inFlight -= 1;
    lane.finished(succeeded, Date.now());
    ask(entry);
    share();
    if (entry.more && !entry.asked && lane.waiting() <= entry.fewLeft) {
      entry.asked = true;
      onWanting();
    }
  }

  return {
    room(now, limit) {
      const sharers = entries.values().reduce((count, { more }) => count + Number(more), 0);
      const share = Math.ceil(limit / Math.max(1, sharers));
      return [...entries].map(([endpointId, { lane }]) => ({
        endpointId,
        free: Math.min(lane.room(now), share),
      }));
    },
    add(endpointId, { jobs, rateLimit, more }) {
      const entry = entries.get(endpointId) ?? newEntry<Job>();
      entries.set(endpointId, entry);
      entry.more = more;
      entry.fewLeft = jobs.length / 2;
      entry.asked = false;
      entry.lane.setRate(rateLimit);
      entry.lane.add(jobs, Date.now());
      ask(entry);
    },
    noMore(endpointIds) {
      for (const id of endpointIds) {
        const entry = entries.get(id);
        if (entry) entry.more = false;
      }
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

function newEntry<Job>(): Entry<Job> {
  return { lane: createLane<Job>(), more: false, fewLeft: 0, asked: false, queued: false, timer: null };
}
