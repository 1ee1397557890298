/** Endpoints that end or change while deliveries to them are under way. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { idBound } from '../../src/runtime/ids.ts';
import { firstCap } from '../../src/webhooks/dispatch/lane.ts';
import { certificate, type Receiver, startReceiver } from '../support/clients/receiver.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const endpoints = '/api-v1/platform/webhooks/endpoints';
const deliveries = '/api-v1/platform/webhooks/deliveries';

let service: Service;
let database: pg.Client;
/** Where the endpoint of a test is, and another place. */
let old: Receiver;
let fresh: Receiver;

before(async () => {
  service = await startService({
    env: { HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8', HOLDFAST_WEBHOOK_CA_FILE: certificate().caFile },
  });
  database = new pg.Client({ connectionString: service.databaseUrl });
  await database.connect();
});
after(async () => {
  await database.end();
  await service.close();
});
beforeEach(async () => {
  [old, fresh] = await Promise.all([startReceiver(), startReceiver()]);
});
afterEach(async () => {
  for (const { id } of (await service.call('GET', endpoints)).json)
    await service.call('DELETE', `${endpoints}/${id}`);
  await Promise.all([old.close(), fresh.close()]);
});

async function subscribe(receiver: Receiver, ...eventTypes: string[]): Promise<string> {
  const { status, text, json } = await service.call('POST', endpoints, {
    body: { url: receiver.url, eventTypes },
  });
  assert.equal(status, 201, text);
  receiver.received.length = 0;
  return json.id;
}

let events = 0;

/** All in one commit. */
async function makeEvents(type: string, count: number): Promise<void> {
  await database.query(
    `insert into events (workspace_id, id, type, envelope)
     select w.id, $1 || lpad(($2::integer + n)::text, 16, '0'), $3, '{}'
     from workspaces w, generate_series(1, $4::integer) as n where w.slug = 'default'`,
    [idBound('evt', new Date()), events, type, count],
  );
  events += count;
}

async function allEnded(endpointId: string): Promise<Record<string, number>> {
  await waitUntil(async () => {
    const { rows } = await database.query('select from webhook_queue where endpoint_id = $1 limit 1', [
      endpointId,
    ]);
    return rows.length === 0;
  });
  const { json } = await service.call(
    'GET',
    `${deliveries}?endpointId=${endpointId}&type=vault.deactivated&limit=1000`,
  );
  const statuses = json.map(({ status }: { status: string }) => status);
  return Object.fromEntries(
    Map.groupBy(statuses, String)
      .entries()
      .map(([name, all]) => [name, all.length]),
  );
}

for (const how of ['410', 'delete'] as const) {
  test(`${how}: skips deliveries that were claimed but not started`, async () => {
    const endpointId = await subscribe(old, 'vault.deactivated');
    await subscribe(fresh, 'vault.reactivated');
    // From the twentieth on nobody gets an answer: with one more for each success, so many are then under way at once.
    const answered = 19;
    const most = firstCap + answered;
    const held: ((status: number) => void)[] = [];
    old.answer = (response) => {
      if (old.received.length <= answered) response.writeHead(204).end();
      else held.push((status) => response.writeHead(status).end());
    };
    const total = 200;
    await makeEvents('vault.deactivated', total);
    await waitUntil(() => held.length === most);
    if (how === '410') {
      held.shift()?.(410);
      await waitUntil(async () => {
        const { json } = await service.call('GET', `${endpoints}/${endpointId}`);
        return json.disabledReason === 'gone';
      });
    } else {
      assert.equal((await service.call('DELETE', `${endpoints}/${endpointId}`)).status, 204);
      // Whatever is claimed later comes with a look at the endpoints of what was claimed before.
      await makeEvents('vault.reactivated', 1);
      await waitUntil(() => fresh.received.length === 1);
    }
    old.answer = (response) => response.writeHead(204).end();
    for (const answer of held) answer(204);

    const begun = answered + most;
    const sent = how === '410' ? { failed: 1, succeeded: begun - 1 } : { succeeded: begun };
    assert.deepEqual(await allEnded(endpointId), { ...sent, skipped: total - begun });
    assert.equal(old.received.length, begun, 'no more were sent');
  });
}

test('a 410 from a replaced address does not count against the new one', async () => {
  const endpoint = await subscribe(old, 'vault.deactivated', 'vault.reactivated');
  let answerNow = () => {};
  old.answer = (response) => {
    answerNow = () => response.writeHead(410).end();
  };
  await makeEvents('vault.deactivated', 1);
  await waitUntil(() => old.received.length === 1);
  await service.call('PATCH', `${endpoints}/${endpoint}`, { body: { url: fresh.url } });
  fresh.received.length = 0;
  // Something for the new address, so that the node knows of it.
  await makeEvents('vault.reactivated', 1);
  await waitUntil(() => fresh.received.length === 1);
  answerNow();
  assert.deepEqual(await allEnded(endpoint), { failed: 1 });
  const now = (await service.call('GET', `${endpoints}/${endpoint}`)).json;
  assert.deepEqual([now.enabled, now.status, now.url], [true, 'active', fresh.url]);
});

test('a change still being tested does not restore the address that another one replaced', async () => {
  const endpoint = await subscribe(old, 'vault.deactivated');
  let answerNow: (() => void) | null = null;
  old.answer = (response) => {
    answerNow = () => response.writeHead(204).end();
  };
  const slow = service.call('PATCH', `${endpoints}/${endpoint}`, { body: { description: 'slow' } });
  await waitUntil(() => answerNow !== null);
  await service.call('PATCH', `${endpoints}/${endpoint}`, { body: { url: fresh.url } });
  (answerNow as unknown as () => void)();
  assert.equal((await slow).json.url, fresh.url);
  const rotations = await Promise.all(
    Array.from({ length: 20 }, () => service.call('POST', `${endpoints}/${endpoint}/rotate-secret`)),
  );
  assert.deepEqual(
    rotations.map(({ status }) => status),
    rotations.map(() => 200),
    'as many at once as they like',
  );
});

test('a secret that was rotated twice signs until its own end, and a repeat returns the same secret', async () => {
  const made = await service.call('POST', endpoints, {
    body: { url: old.url, eventTypes: ['vault.deactivated'] },
  });
  const { id, secret: deployed } = made.json;
  const rotate = (key: string) =>
    service.call('POST', `${endpoints}/${id}/rotate-secret`, { headers: { 'idempotency-key': key } });
  const first = (await rotate('first')).json;
  // The answer was lost, once with the key and once without.
  assert.deepEqual((await rotate('first')).json, first);
  const second = (await rotate('second')).json;
  assert.ok(second.previousSecretUntil >= first.previousSecretUntil);
  const signedBy = async () => {
    old.received.length = 0;
    await service.call('POST', `${endpoints}/${id}/test`);
    const [test] = old.received;
    assert.ok(test);
    return [deployed, first.secret, second.secret].map((secret) => {
      try {
        new Webhook(secret).verify(test.body, test.headers as Record<string, string>);
        return true;
      } catch {
        return false;
      }
    });
  };
  assert.deepEqual(await signedBy(), [true, true, true]);
  // The oldest has come to its end.
  await database.query(
    `update webhook_previous_secrets set until = now()
     where endpoint_id = $1 and until = (select min(until) from webhook_previous_secrets where endpoint_id = $1)`,
    [id],
  );
  assert.deepEqual(await signedBy(), [false, true, true]);
  assert.equal((await rotate('third')).status, 200);
  const kept = await database.query("select from secrets where purpose = 'webhook-secret-previous'");
  const known = await database.query('select from webhook_previous_secrets');
  assert.equal(kept.rowCount, known.rowCount, 'what has ended is forgotten');
});

test('disabling does not wait for a hanging receiver, sends nothing, and skips what waits', async () => {
  const endpoint = await subscribe(old, 'vault.deactivated');
  const held: (() => void)[] = [];
  old.answer = (response) => void held.push(() => response.writeHead(204).end());
  const total = 4500;
  await makeEvents('vault.deactivated', total);
  await waitUntil(() => held.length === firstCap);
  const { status, json } = await service.call('PATCH', `${endpoints}/${endpoint}`, {
    body: { enabled: false, url: old.url },
  });
  assert.deepEqual([status, json.enabled, json.test], [200, false, null]);
  assert.equal(old.received.length, firstCap, 'no test was sent');
  for (const end of held) end();
  await waitUntil(async () => {
    const { rows } = await database.query('select from webhook_queue where endpoint_id = $1', [endpoint]);
    return rows.length === 0;
  });
  const { rows } = await database.query(
    "select status, count(*)::integer from webhook_deliveries where endpoint_id = $1 and type <> 'webhook.test' group by 1 order by 1",
    [endpoint],
  );
  assert.deepEqual(rows, [
    { status: 'skipped', count: total - firstCap },
    { status: 'succeeded', count: firstCap },
  ]);
});

test('limits concurrent tests and the endpoints of a workspace, even if they are created at once', async () => {
  const endpoint = await subscribe(old, 'vault.deactivated');
  let held: (() => void)[] = [];
  old.answer = (response) => void held.push(() => response.writeHead(204).end());
  const tests = Array.from({ length: 25 }, () => service.call('POST', `${endpoints}/${endpoint}/test`));
  const refused = await Promise.race([
    Promise.all(tests).then(() => assert.fail('all were sent')),
    waitUntil(() => held.length === 20).then(() => Promise.any(tests)),
  ]);
  assert.equal(refused.status, 429);
  assert.ok(refused.headers.get('retry-after'));
  for (const end of held) end();
  const statuses = (await Promise.all(tests)).map(({ status }) => status).sort();
  assert.deepEqual(statuses, [...Array(20).fill(200), ...Array(5).fill(429)]);

  held = [];
  await database.query(
    `insert into webhook_endpoints (workspace_id, id, url, event_types)
     select workspace_id, 'whe_full_' || n, 'https://example.org/', '{vault.reactivated}'
     from webhook_endpoints, generate_series(2, 499) as n where id = $1`,
    [endpoint],
  );
  const body = { url: old.url, eventTypes: ['vault.deactivated'] };
  const made = [1, 2, 3].map(() => service.call('POST', endpoints, { body }));
  await waitUntil(() => held.length === 3);
  for (const end of held) end();
  assert.deepEqual((await Promise.all(made)).map(({ status }) => status).sort(), [201, 403, 403]);
  await database.query("delete from webhook_endpoints where id like 'whe\\_full\\_%'");
});

test('shows path and query of a URL only to those who may change it, and audits secrets and tests', async () => {
  const secretUrl = `${old.url}services/T000/SECRETPATH?token=SECRETQUERY`;
  const body = { url: secretUrl, eventTypes: ['vault.deactivated'] };
  const { id, url } = (await service.call('POST', endpoints, { body })).json;
  assert.equal(url, secretUrl);
  assert.equal((await service.call('GET', `${endpoints}/${id}`)).json.url, secretUrl);
  await service.call('PATCH', `${endpoints}/${id}`, { body: { url: `${secretUrl}2` } });
  await service.call('GET', `${endpoints}/${id}/secret`);
  await service.call('POST', `${endpoints}/${id}/test`);
  old.answer = (response) => response.writeHead(410).end();
  await makeEvents('vault.deactivated', 1);
  const told = await waitUntil(async () => {
    const { text } = await service.call('GET', '/api-v1/platform/events?type=endpoint.disabled&order=newest');
    return text.includes(id) ? text : null;
  });

  const key = await service.makeKey({ scopes: ['webhooks:read', 'events:read', 'audit:read'] });
  const seen = [
    await service.call('GET', endpoints, { key }),
    await service.call('GET', `${endpoints}/${id}`, { key }),
    await service.call('GET', '/api-v1/platform/audit-log', { key }),
  ].map(({ text }) => text);
  for (const text of [told, ...seen]) assert.doesNotMatch(text, /SECRET/);
  assert.equal(JSON.parse(seen[1] ?? '').url, `${new URL(old.url).origin}/…`);
  const entries = JSON.parse(seen[2] ?? '').filter((one: { targetId: string }) => one.targetId === id);
  assert.deepEqual(
    entries.map(({ action }: { action: string }) => action).reverse(),
    ['create', 'update', 'read_secret', 'test', 'disable'].map((verb) => `webhook_endpoint.${verb}`),
  );
});
