/** Sends due deliveries: claims them in batches, posts them with one lane per endpoint, saves results in batches. */
import { randomInt } from 'node:crypto';
import { type Changes, type Loop, pause, quietMs, type Wakeup } from '../../runtime/loop.ts';
import { type AttemptDeps, attemptDelivery } from './attempt.ts';
import { firstCap } from './lane.ts';
import { createLanes } from './lanes.ts';
import type { ClaimedDelivery, DeliveryResult, Queue } from './queue.ts';
import { createResultWriter, type ResultWriterDeps } from './result-writer.ts';

export interface DispatcherDeps extends AttemptDeps, ResultWriterDeps {
  queue: Queue;
  timeoutMs: number;
  nodeId: number;
  /** Woken when a delivery may have become due. */
  wakeup: Wakeup;
  /** When given, the loop rests until something has changed or a delivery becomes due while none is. */
  changes?: Changes;
  mostInHand?: number;
}

const claimLimit = 1000;
/** Bound the memory of a node whatever the receivers do: deliveries waiting to be sent, and all that it holds. */
const mostWaiting = 4000;
const usualMostInHand = 10_000;
/** With more than this waiting, the next claim is not urgent. */
const stock = 1000;
/** For events that other nodes commit, and for deliveries in hand. */
const pollMs = 200;
/** Merges claims that would follow each other faster. */
const claimRestMs = 5;
/** The pause between claims while enough is waiting, unless a wakeup comes. */
const stockedRestMs = 100;
/** In-flight requests get this long to finish when the node stops. */
const stopGraceMs = 3_000;
/** A lower bound for short time-outs: a slow commit alone must not cost a node its claims. */
const shortestLeaseMs = 5_000;
const prepareAgainMs = 10_000;

export function createNodeId(): number {
  return randomInt(1, 2 ** 31);
}

export function dispatcherLoop(deps: DispatcherDeps): Loop {
  const { queue, wakeup, changes, log, mostInHand = usualMostInHand } = deps;
  // A third for waiting in the lane, a third for sending, a third for saving the result.
  const leaseMs = Math.max(deps.timeoutMs * 3, shortestLeaseMs);
  let claims = 0;
  const writer = createResultWriter(deps);
  const lanes = createLanes<ClaimedDelivery>({
    run: send,
    onWanting() {
      if (!stocked()) wakeup.wake();
    },
    // Another node may have claimed it by now.
    isStale: ({ claimedAt }, now) => now - claimedAt > leaseMs / 3,
    onTakenBack(deliveries) {
      for (const delivery of deliveries) writer.add(untried(delivery, null));
    },
  });

  const stocked = () => lanes.waiting() > stock;
  const inHand = () => lanes.waiting() + lanes.inFlight() + writer.waiting();

  async function send(delivery: ClaimedDelivery): Promise<boolean> {
    let result: DeliveryResult;
    try {
      result = await attemptDelivery(deps, delivery);
    } catch (error) {
      // Not the receiver's fault: the secret could not be opened.
      log.error({ err: error, delivery: delivery.id }, 'could not prepare a delivery');
      result = untried(delivery, prepareAgainMs);
    }
    writer.add(result);
    return result.status === 'succeeded' || result.status === 'skipped';
  }

  /** True when more can probably be claimed at once. */
  async function claim(): Promise<boolean> {
    const now = Date.now();
    lanes.sweep(now);
    const waiting = lanes.waiting();
    const free = { toWait: mostWaiting - waiting, inHand: mostInHand - inHand() };
    // At most half of what is free: the whole claim may go to one workspace that has no lanes here yet.
    const limit = Math.max(0, Math.min(claimLimit, Math.ceil(free.toWait / 2), Math.ceil(free.inHand / 2)));
    const { endpoints: room, full: fullWorkspaces } = lanes.room(now, { limit, ...free });
    const claimed = await queue.claim({
      claimId: `${deps.nodeId.toString(36)}-${(claims++).toString(36)}`,
      nodeId: deps.nodeId,
      leaseMs,
      room,
      fullWorkspaces,
      usual: firstCap,
      waiting: lanes.waitingEndpoints(),
      limit,
    });
    const granted = new Map(room.map(({ endpointId, free }) => [endpointId, free]));
    const full = limit > 0 && claimed.length === limit;
    const byEndpoint = Map.groupBy(claimed, ({ endpoint }) => endpoint.id);
    for (const [endpointId, jobs] of byEndpoint) {
      const more = full || jobs.length === (granted.get(endpointId) ?? firstCap);
      const [{ endpoint }] = jobs as [ClaimedDelivery, ...ClaimedDelivery[]];
      lanes.add(endpointId, { ...endpoint, jobs, more });
    }
    if (limit > 0 && !full)
      lanes.noMore(room.filter((one) => one.free > 0 && !byEndpoint.has(one.endpointId)).map(idOf));
    return full || queue.isMidRound();
  }

  /** How long nothing is to be claimed, unless a wakeup comes. */
  async function untilDue(): Promise<number> {
    if (!changes || inHand() > 0) return pollMs;
    const dueInMs = (await queue.nextDueMs()) ?? quietMs;
    return dueInMs === 0 ? pollMs : Math.min(dueInMs, quietMs);
  }

  return {
    name: 'webhook-dispatcher',
    stuckAfterMs: 60_000,
    async run(signal, beat) {
      const writing = new AbortController();
      const written = writer.run(writing.signal, beat);
      const unfollow = changes?.follow(wakeup, pollMs);
      try {
        while (!signal.aborted) {
          const more = await claim();
          beat();
          await pause(claimRestMs, signal);
          if (stocked()) await wakeup.wait(stockedRestMs, signal);
          else if (!more) await wakeup.wait(await untilDue(), signal);
        }
      } finally {
        unfollow?.();
        lanes.empty();
        for (const deadline = Date.now() + stopGraceMs; Date.now() < deadline && lanes.inFlight() > 0; )
          await pause(20, new AbortController().signal);
        writing.abort();
        await written;
      }
    },
  };
}

function idOf({ endpointId }: { endpointId: string }): string {
  return endpointId;
}

function untried(delivery: ClaimedDelivery, retryInMs: number | null): DeliveryResult {
  return { delivery, status: 'pending', retryInMs, attempt: null };
}
