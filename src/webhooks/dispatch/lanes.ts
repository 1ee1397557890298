/**
 * The lanes of a node, one for each endpoint with deliveries here. They take turns on the node's capacity: first the
 * workspaces, then the endpoints of each. A request that waits for its receiver does not count against it. No workspace
 * can take all of any resource, so that others never wait for its receivers.
 */
import { createLane, type Lane } from './lane.ts';

export interface LanesOptions<Job> {
  /** Never rejects; true on success. */
  run(job: Job): Promise<boolean>;
  /** Called when an endpoint that may have more to send has few jobs left here. */
  onWanting(): void;
  /** A stale job has waited here too long: it is taken back instead of started. */
  isStale(job: Job, now: number): boolean;
  onTakenBack(jobs: Job[]): void;
  /** After this time a request counts as waiting for its receiver. */
  waitsAfterMs?: number;
}

export interface Lanes<Job> {
  /** How many more jobs each known endpoint would accept; endpoints with more to send get equal shares of `limit`. */
  room(now: number, free: FreePlaces): Room;
  add(endpointId: string, batch: Batch<Job>): void;
  /** The queue has nothing more for these endpoints now. */
  noMore(endpointIds: Iterable<string>): void;
  /** Takes back jobs behind a receiver that does not respond, and forgets endpoints that have been idle for long. */
  sweep(now: number): void;
  /** Takes back all jobs that have not started. */
  empty(): void;
  /** Endpoints with waiting jobs. */
  waitingEndpoints(): string[];
  waiting(): number;
  inFlight(): number;
}

/** The capacity that the node has left. */
export interface FreePlaces {
  /** In this claim. */
  limit: number;
  toWait: number;
  inHand: number;
}

export interface Room {
  endpoints: { endpointId: string; free: number }[];
  /** Workspaces that get nothing more now, for any endpoint. */
  full: string[];
}

export interface Batch<Job> {
  workspaceId: string;
  jobs: Job[];
  rateLimit: number | null;
  /** There may be more jobs for this endpoint. */
  more: boolean;
}

interface Workspace<Job> {
  /** Endpoints that wait for their turn. */
  turns: Entry<Job>[];
  active: number;
  inFlight: number;
}

interface Entry<Job> {
  workspaceId: string;
  workspace: Workspace<Job>;
  lane: Lane<Job>;
  more: boolean;
  /** When at most this many are left, more are requested, so that the lane does not run dry meanwhile. */
  fewLeft: number;
  asked: boolean;
  /** Whether it is in the workspace's `turns`. */
  queued: boolean;
  timer: NodeJS.Timeout | null;
}

/**
 * Concurrent requests of the node, not counting those that wait for their receiver: more would only slow each other down.
 */
const mostActive = 85;
/** A workspace may have this many times what it leaves to others: 64 when it is alone. */
const activeShare = 3;
const usualWaitsAfterMs = 25;
/** How long the lane of an endpoint, with its cap, is kept after its last delivery. */
const rememberMs = 10 * 60 * 1000;
/** With more than this many lanes, idle ones are forgotten at once. */
const mostRemembered = 10_000;

export function createLanes<Job>({
  run,
  onWanting,
  isStale,
  onTakenBack,
  waitsAfterMs = usualWaitsAfterMs,
}: LanesOptions<Job>): Lanes<Job> {
  const entries = new Map<string, Entry<Job>>();
  /** Workspaces of all known endpoints. */
  const workspaces = new Map<string, Workspace<Job>>();
  /** Workspaces with endpoints that wait for their turn, in order. */
  let round: Workspace<Job>[] = [];
  let inFlight = 0;
  /** In the order of their start. */
  const active = new Set<Request<Job>>();
  let clock: NodeJS.Timeout | null = null;

  function ask(entry: Entry<Job>): void {
    if (entry.queued) return;
    queueUp(entry);
    share();
  }

  function queueUp(entry: Entry<Job>): void {
    entry.queued = true;
    if (entry.workspace.turns.push(entry) === 1) round.push(entry.workspace);
  }

  /** Starts jobs of the endpoints in turn while there is capacity. */
  function share(): void {
    const passed: Workspace<Job>[] = [];
    while (active.size < mostActive) {
      const workspace = round.shift();
      if (!workspace) break;
      if (workspace.active >= activeShare * (mostActive - active.size)) {
        passed.push(workspace);
        continue;
      }
      const entry = workspace.turns.shift();
      if (!entry) continue;
      if (workspace.turns.length > 0) round.push(workspace);
      entry.queued = false;
      start(entry);
    }
    // They were first, and stay first for when capacity is free again.
    if (passed.length > 0) round = [...passed, ...round];
  }

  function leave(request: Request<Job>): void {
    if (active.delete(request)) request.workspace.active -= 1;
  }

  /** Requests that wait for their receiver free their place for others. */
  function leaveWaiting(): void {
    const before = performance.now() - waitsAfterMs;
    for (const request of active) {
      if (request.startedAt > before) break;
      leave(request);
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
      follow(entry, job);
      queueUp(entry);
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

  function follow(entry: Entry<Job>, job: Job): void {
    const { workspace } = entry;
    const request = { startedAt: performance.now(), workspace };
    inFlight += 1;
    workspace.inFlight += 1;
    active.add(request);
    workspace.active += 1;
    clock ??= setInterval(leaveWaiting, waitsAfterMs / 2);
    void run(job).then((succeeded) => finish(entry, request, succeeded));
  }

  function finish(entry: Entry<Job>, request: Request<Job>, succeeded: boolean): void {
    const { lane, workspace } = entry;
    leave(request);
    inFlight -= 1;
    workspace.inFlight -= 1;
    lane.finished(succeeded, Date.now());
    if (!entry.queued) queueUp(entry);
    share();
    if (entry.more && !entry.asked && lane.waiting() <= entry.fewLeft) {
      entry.asked = true;
      onWanting();
    }
  }

  function workspaceOf(id: string): Workspace<Job> {
    const present = workspaces.get(id) ?? { turns: [], active: 0, inFlight: 0 };
    workspaces.set(id, present);
    return present;
  }

  return {
    room(now, { limit, toWait, inHand }) {
      const sharers = entries.values().reduce((count, { more }) => count + Number(more), 0);
      const share = Math.ceil(limit / Math.max(1, sharers));
      const held = new Map([...workspaces.keys()].map((id) => [id, { waiting: 0, sharers: 0 }]));
      for (const { workspaceId, lane, more } of entries.values()) {
        const hold = held.get(workspaceId);
        if (!hold) continue;
        hold.waiting += lane.waiting();
        hold.sharers += Number(more);
      }
      const shares = new Map<string, number>();
      const full: string[] = [];
      for (const [id, { waiting, sharers }] of held) {
        const under = waiting + (workspaces.get(id)?.inFlight ?? 0);
        const most = Math.min(untilAsMuchAsIsLeft(waiting, toWait), untilAsMuchAsIsLeft(under, inHand));
        shares.set(id, Math.ceil(most / Math.max(1, sharers)));
        if (most === 0) full.push(id);
      }
      const endpoints = [...entries].map(([endpointId, { workspaceId, lane }]) => ({
        endpointId,
        free: Math.min(lane.room(now), share, shares.get(workspaceId) ?? share),
      }));
      return { endpoints, full };
    },
    add(endpointId, { workspaceId, jobs, rateLimit, more }) {
      const entry = entries.get(endpointId) ?? newEntry<Job>(workspaceId, workspaceOf(workspaceId));
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
      const present = new Set(entries.values().map(({ workspaceId }) => workspaceId));
      for (const id of workspaces.keys()) if (!present.has(id)) workspaces.delete(id);
    },
    empty() {
      for (const { lane } of entries.values()) onTakenBack(lane.takeBack(() => true));
    },
    waitingEndpoints: () => [...entries].filter(([, { lane }]) => lane.waiting() > 0).map(([id]) => id),
    waiting: () => entries.values().reduce((sum, { lane }) => sum + lane.waiting(), 0),
    inFlight: () => inFlight,
  };
}

interface Request<Job> {
  startedAt: number;
  workspace: Workspace<Job>;
}

/** How many more may be held until what is held equals what is left free. */
function untilAsMuchAsIsLeft(held: number, free: number): number {
  return Math.max(0, Math.floor((free - held) / 2));
}

function newEntry<Job>(workspaceId: string, workspace: Workspace<Job>): Entry<Job> {
  const lane = createLane<Job>();
  return { workspaceId, workspace, lane, more: false, fewLeft: 0, asked: false, queued: false, timer: null };
}
