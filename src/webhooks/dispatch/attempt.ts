/** One delivery attempt: signs the exact bytes, posts them, and decides what happens to the delivery. */

import type { Attempt } from '../deliveries/attempts.ts';
import type { Exchanger } from '../exchange/exchange.ts';
import type { ClaimedDelivery, ClaimedEndpoint, DeliveryResult } from './queue.ts';
import { nextAttemptAt, parseRetryAfter } from './retry-schedule.ts';
import type { Sender } from './senders.ts';

export interface AttemptDeps {
  exchanger: Exchanger;
  retryStepsMs: number[];
  /** At once if it is known, as it mostly is: a promise would cost every delivery. */
  senderOf(endpoint: ClaimedEndpoint): Sender | Promise<Sender>;
  /** Called after every attempt with the health of the endpoint. Null: there is nothing to save. */
  onHealth(endpoint: ClaimedEndpoint, health: EndpointHealth): Promise<void> | null;
  log: { error(details: object, message: string): void };
}

export type EndpointHealth = 'well' | 'failing' | 'gone';

export async function attemptDelivery(
  { exchanger, retryStepsMs, senderOf, onHealth, log }: AttemptDeps,
  delivery: ClaimedDelivery,
): Promise<DeliveryResult> {
  const { endpoint, envelope, eventId, attemptCount } = delivery;
  // The endpoint may change while the request runs; the result counts for this URL only.
  const { url } = endpoint;
  if (!endpoint.enabled) return { delivery, status: 'skipped', retryInMs: null, attempt: null };
  const sender = senderOf(endpoint);
  const { sign, client } = sender instanceof Promise ? await sender : sender;
  const startedAt = Date.now();
  const headers = sign({ eventId, body: envelope, timestamp: Math.floor(startedAt / 1000) });
  const told = await exchanger.post({ url, headers, body: envelope, client });
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
  // The attempt was made and must be recorded, even if saving the health fails.
  const note = async (health: EndpointHealth, saving: Promise<void>) => {
    try {
      await saving;
    } catch (error) {
      log.error({ err: error, endpoint: endpoint.id }, 'could not save endpoint health');
      // Other nodes still see it enabled, so this node has to try it again.
      if (health === 'gone') endpoint.enabled = true;
    }
  };
  const tell = (health: EndpointHealth) => {
    const saving = onHealth(endpoint.url === url ? endpoint : { ...endpoint, url }, health);
    return saving && note(health, saving);
  };
  if (told.error === null) {
    const noted = tell('well');
    if (noted) await noted;
    return { delivery, status: 'succeeded', retryInMs: null, attempt };
  }
  const gone = told.statusCode === 410;
  // For deliveries waiting on this node; `tell` below informs the other nodes.
  if (gone && endpoint.url.href === url.href) endpoint.enabled = false;
  await tell(gone ? 'gone' : 'failing');
  if (gone) return { delivery, status: 'failed', retryInMs: null, attempt };
  const asked = told.statusCode === 429 || told.statusCode === 503 ? told.retryAfter : null;
  const now = Date.now();
  const retryAfterMs = parseRetryAfter(asked ?? undefined, now);
  if (delivery.byHand) return { delivery, status: 'pending', retryInMs: retryAfterMs, attempt };
  // Delays caused by this service do not count against the receiver's retry window.
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
