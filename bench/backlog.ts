/** A backlog of deliveries: every event goes to every target. The same for all senders. */

import { createSigner } from '../src/webhooks/exchange/signature.ts';
import type { Arrivals, Receiver, Sample } from './receiver.ts';

export interface Backlog {
  targets: Target[];
  events: BacklogEvent[];
}

export interface Target {
  path: string;
  secret: string;
}

export interface BacklogEvent {
  id: string;
  /** The exact text that is sent. */
  envelope: string;
}

/** One event for one target. */
export interface Parcel {
  target: Target;
  event: BacklogEvent;
}

/** Event by event, as they would come up. */
export function* parcelsOf({ targets, events }: Backlog): Generator<Parcel> {
  for (const event of events) for (const target of targets) yield { target, event };
}

/** Deliveries. */
export function sizeOf({ targets, events }: Backlog): number {
  return targets.length * events.length;
}

/** Waits until all of it has arrived; throws when something is missing, came twice or is not signed. */
export async function collectBacklog(
  receiver: Receiver,
  backlog: Backlog,
  timeoutMs: number,
): Promise<Arrivals> {
  const arrived = await receiver.arrivals({ events: backlog.events.length, timeoutMs });
  refuseGaps(backlog, arrived);
  return arrived;
}

/** Throws unless each event came to each target, once, and both signatures are right. */
function refuseGaps(
  { targets, events }: Backlog,
  arrived: { requests: number; byPath: Record<string, number>; samples: Sample[] },
): void {
  const wrong = targets.filter(({ path }) => arrived.byPath[path] !== events.length);
  if (wrong.length > 0 || arrived.requests !== targets.length * events.length) {
    const counts = wrong.map(({ path }) => `${path}: ${arrived.byPath[path] ?? 0}`).join(', ');
    throw new Error(
      `${events.length} events for ${targets.length} targets made ${arrived.requests} requests; ${counts}`,
    );
  }
  for (const { path, secret } of targets) {
    const sample = arrived.samples.find((sample) => sample.path === path);
    if (sample) refuseForgery(sample, secret);
  }
}

function refuseForgery({ path, headers, body }: Sample, secret: string): void {
  const expected = createSigner({ serviceName: 'Service', secret, previousSecrets: [] })({
    eventId: headers['webhook-id'] ?? '',
    body,
    timestamp: Number(headers['webhook-timestamp']),
  });
  for (const [name, value] of Object.entries(expected)) {
    if (headers[name] !== value)
      throw new Error(`${path} got ${name}: ${headers[name]} where ${value} was right`);
  }
}
