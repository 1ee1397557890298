/** The figures about webhooks on /metrics, read as Prometheus reads them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import type { Metric } from 'prom-client';
import { indexOnly, openDatabase } from '../../src/db/database.ts';
import { backlogText, createWebhookMetrics } from '../../src/webhooks/dispatch/metrics.ts';
import { certificate, type Receiver, startReceiver } from '../support/clients/receiver.ts';
import { withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let receiver: Receiver;
before(async () => {
  receiver = await startReceiver();
  service = await startService({
    env: {
      HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8',
      HOLDFAST_WEBHOOK_CA_FILE: certificate().caFile,
      HOLDFAST_WEBHOOK_RETRY_SCHEDULE: '20ms',
    },
  });
});
after(async () => {
  await service.close();
  await receiver.close();
});

type Shown = { name: string; values: unknown[] };

async function figures(): Promise<Map<string, number>> {
  const { status, text } = await service.call('GET', '/metrics', { key: null });
  assert.equal(status, 200);
  const lines = text.split('\n').filter((line) => line.startsWith('holdfast_webhook_'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

const database = <T>(text: string, values: unknown[] = []) =>
  withClient(
    { connectionString: service.databaseUrl },
    async (client) => (await client.query(text, values)).rows as T[],
  );

test('reports outcomes, durations, backlog and endpoint states, but none by endpoint', async () => {
  const first = await figures();
  for (const outcome of ['succeeded', 'to_retry', 'failed', 'skipped'])
    assert.equal(first.get(`holdfast_webhook_deliveries_total{outcome="${outcome}"}`), 0);
  assert.equal(first.get('holdfast_webhook_claims_given_back_total'), 0);
  assert.equal(first.get('holdfast_webhook_refused_results_total'), 0);

  const vault = (await service.call('POST', '/api-v1/platform/vaults', { body: { name: 'v' } })).json.address;
  const move = (to: string) => service.call('PATCH', `/api-v1/platform/vaults/${vault}/${to}`);
  const endpoint = await service.call('POST', '/api-v1/platform/webhooks/endpoints', {
    body: { url: receiver.url, eventTypes: ['vault.deactivated', 'vault.reactivated'] },
  });
  const { id } = endpoint.json;
  await move('deactivate');
  const outcomeOf = (outcome: string) => async () =>
    ((await figures()).get(`holdfast_webhook_deliveries_total{outcome="${outcome}"}`) ?? 0) > 0;
  await waitUntil(outcomeOf('succeeded'));
  receiver.answer = (response) => response.writeHead(500).end();
  await move('reactivate');
  await waitUntil(outcomeOf('failed'));
  // A delivery that waits a minute for its turn and one that is being sent by a node that has died since. In one commit:
  // a dead node is removed within seconds, and only what it had claimed by then is given back.
  const dueAt = performance.now() - 60_000;
  await database(
    `with dead as (insert into webhook_nodes (id) values (7))
     insert into webhook_queue (workspace_id, delivery_id, event_id, endpoint_id, next_attempt_at, created_at,
       claim_id, claimed_by, lease_until)
     select workspace_id, 'dlv_' || n, 'evt_none', 'whe_none', now() - interval '1 minute', now(),
       case n when 2 then 'c' end, case n when 2 then 7 end, case n when 2 then now() + interval '1 hour' end
     from webhook_endpoints, generate_series(1, 2) as n where id = $1`,
    [id],
  );
  const later = await waitUntil(async () => {
    const found = await figures();
    return found.get('holdfast_webhook_claims_given_back_total') === 1 &&
      found.get('holdfast_webhook_open_deliveries{status="pending"}') === 2
      ? found
      : null;
  });
  assert.equal(later.get('holdfast_webhook_deliveries_total{outcome="succeeded"}'), 1);
  assert.equal(later.get('holdfast_webhook_deliveries_total{outcome="to_retry"}'), 1);
  assert.equal(later.get('holdfast_webhook_deliveries_total{outcome="failed"}'), 1);
  assert.equal(later.get('holdfast_webhook_attempt_duration_seconds_count{outcome="succeeded"}'), 1);
  assert.equal(later.get('holdfast_webhook_attempt_duration_seconds_bucket{le="30",outcome="failed"}'), 1);
  assert.equal(later.get('holdfast_webhook_open_deliveries{status="delivering"}'), 0);
  const oldest = later.get('holdfast_webhook_oldest_due_seconds') ?? 0;
  assert.ok(oldest >= 60 && oldest <= (performance.now() - dueAt) / 1000, `${oldest} s`);
  assert.equal(later.get('holdfast_webhook_endpoints{state="failing"}'), 1);
  assert.equal(later.get('holdfast_webhook_endpoints{state="disabled_owner"}'), 0);
  assert.ok(later.size < 60, 'a fixed number of lines');
  assert.ok(![...later.keys()].some((name) => name.includes(id)));

  await database('delete from webhook_queue where endpoint_id = $1', ['whe_none']);
  await service.call('PATCH', `/api-v1/platform/webhooks/endpoints/${id}`, { body: { enabled: false } });
  await waitUntil(async () => {
    const found = await figures();
    return (
      found.get('holdfast_webhook_endpoints{state="disabled_owner"}') === 1 &&
      found.get('holdfast_webhook_oldest_due_seconds') === 0
    );
  });
});

test('counts the backlog from the queue alone, never from the whole log', async () => {
  const queue = openDatabase({
    connection: () => ({ connectionString: service.databaseUrl }),
    onError() {},
    max: 1,
    settings: indexOnly,
  });
  try {
    await queue.pool.query(`prepare backlog as ${backlogText}`);
    const { rows } = await queue.pool.query('explain execute backlog (100)');
    const scans = rows.map((row) => row['QUERY PLAN'] as string).filter((line) => /Scan/.test(line));
    assert.equal(scans.length, 1);
    assert.match(scans[0] ?? '', / on webhook_queue /);
  } finally {
    await queue.close();
  }
});

test('still shows the figures of the node itself while the database is unreachable', async () => {
  const lonely = new pg.Pool({ host: '127.0.0.1', port: 1 });
  const { all } = createWebhookMetrics(lonely);
  const texts = await Promise.all(all.map((metric) => (metric as Metric & { get(): Promise<Shown> }).get()));
  const shown = new Map(texts.map(({ name, values }) => [name, values.length]));
  assert.equal(shown.get('holdfast_webhook_deliveries_total'), 4);
  assert.equal(shown.get('holdfast_webhook_open_deliveries'), 0);
  assert.equal(shown.get('holdfast_webhook_oldest_due_seconds'), 0);
  await lonely.end();
});
