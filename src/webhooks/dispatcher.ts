/** Sends what is due: claims in batches, posts with every endpoint in its own lane, writes results down in batches. */
import { randomInt, randomUUID } from 'node:crypto';
import { type Bell, createBell, type Loop, pause } from '../loop.ts';
import type { Exchanger } from './exchange.ts';
import { createLane, firstCap, type Lane } from './lane.ts';
import type { Attempt, ClaimedDelivery, ClaimedEndpoint, Queue, Result } from './queue.ts';
import { nextAttemptAt, parseRetryAfter } from './retry-schedule.ts';
import { signatureHeaders } from './signature.ts';

export interface DispatcherDeps {
  queue: Queue;
  exchanger: Exchanger;
  retryStepsMs: number[];
  serviceName: string;
  timeoutMs: number;
  nodeId: number;
  /** Rung when a delivery may have become due. */
  bell: Bell;
  secretsOf(endpoint: ClaimedEndpoint): Promise<{ secret: string; previousSecret: string | null }>;
  /** Told how an endpoint fared with every attempt. */
  onHealth(endpoint: ClaimedEndpoint, health: EndpointHealth): Promise<void>;
  /** Told what was written down, and how many of these were refused because their claim was lost. */
  onResults(results: Result[], refused: number): void;
  log: { error(details: object, message: string): void };
}

export type EndpointHealth = 'well' | 'failing' | 'gone';

const claimLimit = 1000;
/** Deliveries on this node at once, over all endpoints: bounds the memory, whatever the receivers do. */
const localLimit = 2000;
const pollMs = 200;
const flushMs = 20;
const flushSize = 500;
/** In-flight requests get this long to finish when the node stops. */
const stopGraceMs = 3_000;
/** However short the time-out: a slow commit alone must not cost a node its claims. */
const shortestLeaseMs = 5_000;

export function createNodeId(): number {
  return randomInt(1, 2 ** 31);
}

export function dispatcherLoop(deps: DispatcherDeps): Loop {
  const { queue, exchanger, retryStepsMs, bell, log } = deps;
  // A third of it to wait for its turn, a third to be sent, a third to be written down.
  const leaseMs = Math.max(deps.timeoutMs * 3, shortestLeaseMs);
  const lanes = new Map<string, Lane<ClaimedDelivery>>();
  const results: Result[] = [];
  const flushBell = createBell();
  let local = 0;

  async function claim(since: Date): Promise<number> {
    const room = [...lanes].map(([endpointId, lane]) => ({ endpointId, free: lane.room() }));
    const limit = Math.min(claimLimit, localLimit - local);
    if (limit <= 0) return 0;
    const claimed = await queue.claim({
      claimId: randomUUID(),
      nodeId: deps.nodeId,
      leaseMs,
      room,
      usual: firstCap,
      limit,
      since,
    });
    local += claimed.length;
    const byEndpoint = Map.groupBy(claimed, ({ endpoint }) => endpoint.id);
    for (const [endpointId, deliveries] of byEndpoint) {
      const lane = lanes.get(endpointId) ?? createLane<ClaimedDelivery>();
      lanes.set(endpointId, lane);
      lane.setRate(deliveries[0]?.endpoint.rateLimit ?? null);
      lane.add(deliveries);
      advance(lane);
    }
    return claimed.length;
  }

  function advance(lane: Lane<ClaimedDelivery>): void {
    const now = Date.now();
    // Waited too long, behind a receiver that hangs or while the node was stopped: another may have it by now.
    giveBack(lane.drain(({ claimedAt }) => now - claimedAt > leaseMs / 3));
    for (const delivery of lane.start(now)) void send(delivery, lane);
    const next = lane.nextStartAt();
    if (next !== null) setTimeout(() => advance(lane), Math.max(1, next - now)).unref();
  }

  function giveBack(deliveries: ClaimedDelivery[]): void {
    for (const delivery of deliveries)
      results.push({ delivery, status: 'pending', nextAttemptAt: new Date(), attempt: null });
  }

  async function send(delivery: ClaimedDelivery, lane: Lane<ClaimedDelivery>): Promise<void> {
    let result: Result;
    try {
      result = delivery.endpoint.enabled
        ? await attempt(delivery)
        : { delivery, status: 'skipped', nextAttemptAt: null, attempt: null };
    } catch (error) {
      // Nothing of the receiver: the secret could not be opened. Given back, and tried again when the lane moves on.
      log.error({ err: error, delivery: delivery.id }, 'a delivery could not be prepared');
      result = { delivery, status: 'pending', nextAttemptAt: new Date(Date.now() + 10_000), attempt: null };
    }
    results.push(result);
    if (results.length >= flushSize) flushBell.ring();
    lane.finished(result.status === 'succeeded' || result.status === 'skipped');
    advance(lane);
    if (lane.idle()) lanes.delete(delivery.endpoint.id);
    if (lane.room() > 0) bell.ring();
  }

  async function attempt(delivery: ClaimedDelivery): Promise<Result> {
    const { endpoint, envelope, eventId, attemptCount } = delivery;
    const secrets = await deps.secretsOf(endpoint);
    const startedAt = Date.now();
    const signed = signatureHeaders(
      { serviceName: deps.serviceName, ...secrets },
      { eventId, body: envelope, timestamp: Math.floor(startedAt / 1000) },
    );
    const headers = { 'content-type': 'application/json', 'user-agent': 'Holdfast-Webhooks/1', ...signed };
    const outcome = await exchanger.post({ url: new URL(endpoint.url), headers, body: envelope });
    const { retryAfter, ...told } = outcome;
    const made: Attempt = { number: attemptCount + 1, at: new Date(startedAt).toISOString(), ...told };
    if (outcome.error === null) {
      await deps.onHealth(endpoint, 'well');
      return { delivery, status: 'succeeded', nextAttemptAt: null, attempt: made };
    }
    const gone = outcome.statusCode === 410;
    await deps.onHealth(endpoint, gone ? 'gone' : 'failing');
    const asked =
      outcome.statusCode === 429 || outcome.statusCode === 503
        ? parseRetryAfter(retryAfter ?? undefined, Date.now())
        : null;
    const next = gone
      ? null
      : nextAttemptAt(retryStepsMs, {
          attempts: made.number,
          firstAttemptAt: delivery.firstAttemptAt?.getTime() ?? startedAt,
          now: Date.now(),
          retryAfterMs: asked,
        });
    return next === null
      ? { delivery, status: 'failed', nextAttemptAt: null, attempt: made }
      : { delivery, status: 'pending', nextAttemptAt: new Date(next), attempt: made };
  }

  /** Writes results down as they come; keeps them and tries again while the database is away. */
  async function flushUntil(done: () => boolean, beat: () => void): Promise<void> {
    const never = new AbortController().signal;
    while (!done() || results.length > 0) {
      if (results.length < flushSize) await flushBell.wait(flushMs, never);
      const batch = results.splice(0, flushSize);
      if (batch.length === 0) continue;
      try {
        const taken = await queue.complete(batch);
        local -= batch.length;
        deps.onResults(batch, batch.length - taken.length);
        beat();
      } catch (error) {
        log.error({ err: error }, 'results of deliveries could not be written yet');
        results.unshift(...batch);
        // Kept for the next run: they still count against what may be here.
        if (done()) return;
        await pause(500, never);
      }
    }
  }

  return {
    name: 'webhook-dispatcher',
    stuckAfterMs: 60_000,
    async run(signal, beat) {
      let since = (await queue.oldestOpen()) ?? new Date();
      let lookedAt = Date.now();
      let claiming = true;
      const flushing = flushUntil(() => !claiming, beat);
      try {
        while (!signal.aborted) {
          if (Date.now() - lookedAt > 5_000) {
            since = (await queue.oldestOpen()) ?? new Date(lookedAt);
            lookedAt = Date.now();
          }
          const claimed = await claim(since);
          beat();
          if (claimed === 0) await bell.wait(pollMs, signal);
        }
      } finally {
        for (const lane of lanes.values()) giveBack(lane.drain(() => true));
        for (
          const deadline = Date.now() + stopGraceMs;
          Date.now() < deadline && [...lanes.values()].some((lane) => !lane.idle());
        ) {
          await pause(20, new AbortController().signal);
        }
        claiming = false;
        flushBell.ring();
        await flushing;
      }
    },
  };
}
