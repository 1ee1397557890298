/** Sends what is due: claims in batches, posts with every endpoint in its own lane, writes results down in batches. */
import { randomInt } from 'node:crypto';
import { type Loop, pause, type Wakeup } from '../../runtime/loop.ts';
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
  mostInHand?: number;
}

const claimLimit = 1000;
/** Bound the memory of a node whatever the receivers do: what waits here to be sent, and all it has in hand. */
const mostWaiting = 4000;
const usualMostInHand = 10_000;
/** Enough to go on with. */
const stock = 1000;
/** For what other nodes commit, and for retries that become due. */
const pollMs = 200;
/** Claims that would follow each other faster are made as one. */
const claimRestMs = 5;
/** While there is enough here to go on with, unless something new is there. */
const stockedRestMs = 100;
/** In-flight requests get this long to finish when the node stops. */
const stopGraceMs = 3_000;
/** However short the time-out: a slow commit alone must not cost a node its claims. */
const shortestLeaseMs = 5_000;
const prepareAgainMs = 10_000;

export function createNodeId(): number {
  return randomInt(1, 2 ** 31);
}

export function dispatcherLoop(deps: DispatcherDeps): Loop {
  const { queue, wakeup, log, mostInHand = usualMostInHand } = deps;
  // A third of it to wait for its turn, a third to be sent, a third to be written down.
  const leaseMs = Math.max(deps.timeoutMs * 3, shortestLeaseMs);
  let claims = 0;
  const writer = createResultWriter(deps);
  const lanes = createLanes<ClaimedDelivery>({
    run: send,
    onWanting() {
      if (!stocked()) wakeup.wake();
    },
    // Another node may have it by now.
    isStale: ({ claimedAt }, now) => now - claimedAt > leaseMs / 3,
    onTakenBack(deliveries) {
      for (const delivery of deliveries) writer.add(untried(delivery, null));
    },
  });

  const stocked = () => lanes.waiting() > stock;

  async function send(delivery: ClaimedDelivery): Promise<boolean> {
    let result: DeliveryResult;
    try {
      result = await attemptDelivery(deps, delivery);
    } catch (error) {
      // Nothing of the receiver: the secret could not be opened.
      log.error({ err: error, delivery: delivery.id }, 'could not prepare a delivery');
      result = untried(delivery, prepareAgainMs);
    }
    writer.add(result);
    return result.status === 'succeeded' || result.status === 'skipped';
  }

  /** True when there may be more to claim at once. */
  async function claim(): Promise<boolean> {
    const now = Date.now();
    lanes.sweep(now);
    const waiting = lanes.waiting();
    const inHand = waiting + lanes.inFlight() + writer.waiting();
    const free = { toWait: mostWaiting - waiting, inHand: mostInHand - inHand };
    // No more than half of what is free: all of a claim may be for a workspace that nothing is known of yet.
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

  return {
    name: 'webhook-dispatcher',
    stuckAfterMs: 60_000,
    async run(signal, beat) {
      const writing = new AbortController();
      const written = writer.run(writing.signal, beat);
      try {
        while (!signal.aborted) {
          const more = await claim();
          beat();
          await pause(claimRestMs, signal);
          if (stocked()) await wakeup.wait(stockedRestMs, signal);
          else if (!more) await wakeup.wait(pollMs, signal);
        }
      } finally {
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
