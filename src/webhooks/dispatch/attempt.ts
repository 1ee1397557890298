/** One attempt to deliver: signs the exact bytes, posts them, and decides what becomes of the delivery. */

import type { Attempt } from '../deliveries/deliveries.ts';
import type { Exchanger } from '../exchange/exchange.ts';
import type { Signer } from '../exchange/signature.ts';
import type { ClaimedDelivery, ClaimedEndpoint, DeliveryResult } from './queue.ts';
import { nextAttemptAt, parseRetryAfter } from './retry-schedule.ts';

export interface AttemptDeps {
  exchanger: Exchanger;
  retryStepsMs: number[];
  signerOf(endpoint: ClaimedEndpoint): Promise<Signer>;
  /** Told after every attempt how the endpoint fares. */
  onHealth(endpoint: ClaimedEndpoint, health: EndpointHealth): Promise<void>;
  log: { error(details: object, message: string): void };
}

export type EndpointHealth = 'well' | 'failing' | 'gone';

export async function attemptDelivery(
  { exchanger, retryStepsMs, signerOf, onHealth, log }: AttemptDeps,
  delivery: ClaimedDelivery,
): Promise<DeliveryResult> {
  const { endpoint, envelope, eventId, attemptCount } = delivery;
  // The endpoint may be changed while the receiver takes its time; what it does counts for this address alone.
  const { url } = endpoint;
  if (!endpoint.enabled) return { delivery, status: 'skipped', retryInMs: null, attempt: null };
  const sign = await signerOf(endpoint);
  const startedAt = Date.now();
  const headers = sign({ eventId, body: envelope, timestamp: Math.floor(startedAt / 1000) });
  const told = await exchanger.post({ url, headers, body: envelope });
  if (told.cutOff) return { delivery, status: 'pending', retryInMs: null, attempt: null };
  const attempt: Attempt = {
    number: attemptCount + 1,
    at: new Date(startedAt).toISOString(),
    durationMs: told.durationMs,
    statusCode: told.statusCode,
    error: told.error,
    responseHeaders: told.responseHeaders,
    responseBody: told.responseBody,
  };
  // The attempt was made and must be told, whatever becomes of this note.
  const note = async (health: EndpointHealth) => {
    try {
      await onHealth({ ...endpoint, url }, health);
    } catch (error) {
      log.error({ err: error, endpoint: endpoint.id }, 'could not save endpoint health');
      // For others it is still there, so it has to be asked again.
      if (health === 'gone') endpoint.enabled = true;
    }
  };
  if (told.error === null) {
    await note('well');
    return { delivery, status: 'succeeded', retryInMs: null, attempt };
  }
  const gone = told.statusCode === 410;
  // For what waits behind it on this node; the note below tells the others.
  if (gone && endpoint.url.href === url.href) endpoint.enabled = false;
  await note(gone ? 'gone' : 'failing');
  if (gone) return { delivery, status: 'failed', retryInMs: null, attempt };
  const asked = told.statusCode === 429 || told.statusCode === 503 ? told.retryAfter : null;
  const now = Date.now();
  const retryAfterMs = parseRetryAfter(asked ?? undefined, now);
  if (delivery.byHand) return { delivery, status: 'pending', retryInMs: retryAfterMs, attempt };
  // What it waited for this service is no part of the time that the receiver has.
  const isFirst = delivery.firstAttemptAt === null;
  const lateMs = isFirst ? 0 : delivery.lateMs + Math.max(0, startedAt - delivery.claimedAt);
  const next = nextAttemptAt(retryStepsMs, {
    attempts: attempt.number - delivery.manualCount,
    firstAttemptAt: (delivery.firstAttemptAt?.getTime() ?? startedAt) + lateMs,
    now,
    retryAfterMs,
  });
  return next === null
    ? { delivery, status: 'failed', retryInMs: null, attempt }
    : { delivery, status: 'pending', retryInMs: next - now, lateMs, attempt };
}
