/** Every event reached everyone who subscribed to it, nothing else reached anybody, and the log says so. */

import { toAttempts } from '../../../src/webhooks/deliveries/attempts.ts';
import type { Fixture } from '../fixture.ts';
import type { Rule } from '../rule.ts';
import { expectNone } from '../violation.ts';

interface StoredEvent {
  id: string;
  type: string;
  envelope: string;
}

export const everyEventArrived: Rule = {
  name: 'every committed event was accepted by every receiver that subscribed to it',
  when: 'end',
  async check({ store, receivers }) {
    const events = await store.query<StoredEvent>('select id, type, envelope from events');
    for (const { name, enabled, eventTypes, arrivals } of receivers.subscriptions) {
      const expected = enabled ? events.filter(({ type }) => eventTypes.includes(type)) : [];
      expectNone(
        `lost: events that ${name} never accepted`,
        expected.filter(({ id }) => !arrivals.get(id)?.accepted),
      );
      expectNone(
        `events that ${name} got with other bytes`,
        expected.filter(({ id, envelope }) => arrivals.get(id)?.body !== envelope),
      );
      const known = new Set(expected.map(({ id }) => id));
      expectNone(
        `events that ${name} got although they were never committed, or not meant for it`,
        [...arrivals].filter(([id]) => !known.has(id)),
      );
    }
  },
};

interface DeliveryRow {
  id: string;
  endpoint_id: string;
  event_id: string;
  status: string;
  queued: boolean;
  attempt_count: number;
  attempts: { number: number; error: string | null }[];
}

export const everyDeliveryIsSettled: Rule = {
  name: 'every delivery succeeded, or was skipped for a disabled endpoint, with every attempt in the log',
  when: 'end',
  async check(fixture) {
    const rows = await readDeliveries(fixture);
    expectNone(
      'deliveries that are still in the queue, or pending without being in it',
      rows.filter(({ queued, status }) => queued || status === 'pending'),
    );
    expectNone(
      'deliveries whose attempts are not numbered from one',
      rows.filter(
        ({ attempts, attempt_count }) =>
          attempts.length !== attempt_count || attempts.some(({ number }, place) => number !== place + 1),
      ),
    );
    const enabled = new Map(fixture.receivers.subscriptions.map((one) => [one.endpointId, one.enabled]));
    expectNone(
      'deliveries that neither succeeded nor were skipped for a disabled endpoint',
      rows.filter(
        ({ status, endpoint_id, attempts }) =>
          status !== (enabled.get(endpoint_id) ? 'succeeded' : 'skipped') ||
          (status === 'succeeded' && attempts.at(-1)?.error !== null),
      ),
    );
  },
};

export const everySubscriptionHasOneDelivery: Rule = {
  name: 'every event has exactly one delivery for each endpoint that subscribed to it',
  when: 'end',
  async check(fixture) {
    const events = await fixture.store.query<StoredEvent>('select id, type from events');
    const rows = await readDeliveries(fixture);
    const found = rows.map(({ event_id, endpoint_id }) => `${event_id} ${endpoint_id}`);
    const expected = new Set(
      fixture.receivers.subscriptions.flatMap(({ endpointId, eventTypes }) =>
        events.filter(({ type }) => eventTypes.includes(type)).map(({ id }) => `${id} ${endpointId}`),
      ),
    );
    const present = new Set<string>();
    expectNone(
      'deliveries that should not be there, or are there twice',
      found.filter((pair) => !expected.has(pair) || present.has(pair) || !present.add(pair)),
    );
    expectNone(
      'events without a delivery',
      [...expected].filter((pair) => !present.has(pair)),
    );
  },
};

async function readDeliveries({ store }: Fixture): Promise<DeliveryRow[]> {
  const rows = await store.query<DeliveryRow & { first_attempt: string | null }>(
    `select d.id, d.endpoint_id, d.event_id, d.status, d.attempt_count, d.first_attempt, d.attempts, q.delivery_id is not null as queued
     from webhook_deliveries d left join webhook_queue q on q.workspace_id = d.workspace_id and q.delivery_id = d.id
     where d.type <> 'webhook.test'`,
  );
  return rows.map((row) => ({ ...row, attempts: toAttempts(row) }));
}
