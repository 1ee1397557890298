/** Webhooks from the change to the receiver: real service, real HTTPS receivers, real failures. */
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { certificate, type Receiver, startReceiver } from '../support/clients/receiver.ts';
import { withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const masterKey = randomBytes(32).toString('hex');
const env = () => ({
  HOLDFAST_MASTER_KEY: masterKey,
  HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8',
  HOLDFAST_WEBHOOK_CA_FILE: certificate().caFile,
  HOLDFAST_WEBHOOK_RETRY_SCHEDULE: '50ms,50ms,50ms,50ms,50ms',
});

let service: Service;
/** On the same database, and gives receivers little time: what the other one sends has time to be answered. */
let hasty: Service;
let receiver: Receiver;
let vault: string;
before(async () => {
  service = await startService({ env: env() });
  hasty = await startService({
    env: { ...env(), HOLDFAST_WEBHOOK_TIMEOUT_MS: '300' },
    databaseUrl: service.databaseUrl,
    runLoops: false,
  });
  vault = (await service.call('POST', '/api-v1/platform/vaults', { body: { name: 'v' } })).json.address;
});
after(async () => {
  await hasty.close();
  await service.close();
});
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  for (const { id } of (await service.call('GET', '/api-v1/platform/webhooks/endpoints')).json) {
    await service.call('DELETE', `/api-v1/platform/webhooks/endpoints/${id}`);
  }
  await receiver.close();
});

async function subscribe(eventTypes = ['vault.deactivated', 'vault.reactivated'], body: object = {}) {
  const made = await service.call('POST', '/api-v1/platform/webhooks/endpoints', {
    body: { url: receiver.url, eventTypes, ...body },
  });
  assert.equal(made.status, 201, made.text);
  receiver.received.length = 0;
  return made.json;
}

/** One event: the vault is deactivated, or brought back. */
async function makeEvent(move = 'deactivate'): Promise<void> {
  assert.equal((await service.call('PATCH', `/api-v1/platform/vaults/${vault}/${move}`)).status, 200);
}

async function deliveryOf(endpointId: string, status: string) {
  const list = await waitUntil(async () => {
    const { json } = await service.call(
      'GET',
      `/api-v1/platform/webhooks/deliveries?endpointId=${endpointId}&status=${status}`,
    );
    const events = json.filter(({ type }: { type: string }) => type !== 'webhook.test');
    return events.length > 0 ? events : null;
  });
  return (await service.call('GET', `/api-v1/platform/webhooks/deliveries/${list[0].id}`)).json;
}

test('finds deliveries, replays and a test in the log by the id of an event', async () => {
  const one = await subscribe();
  await subscribe();
  await makeEvent();
  const { eventId } = await deliveryOf(one.id, 'succeeded');
  await makeEvent('reactivate');
  const find = async (id: string) => {
    const { json } = await service.call('GET', `/api-v1/platform/webhooks/deliveries?eventId=${id}`);
    return json as {
      id: string;
      eventId: string;
      endpointId: string;
      type: string;
      replayId: string | null;
    }[];
  };
  const first = await waitUntil(async () => {
    const found = await find(eventId);
    return found.length >= 2 ? found : null;
  });
  assert.ok(first.every((delivery) => delivery.eventId === eventId && delivery.replayId === null));
  assert.ok(first.some(({ endpointId }) => endpointId === one.id));

  const replay = await service.call('POST', `/api-v1/platform/webhooks/endpoints/${one.id}/replay`, {
    body: { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date().toISOString() },
  });
  assert.equal(replay.status, 202, replay.text);
  const again = await waitUntil(async () => {
    const found = await find(eventId);
    return found.length > first.length ? found : null;
  });
  assert.deepEqual(
    again.filter(({ replayId }) => replayId !== null).map(({ replayId }) => replayId),
    [replay.json.id],
  );

  const tests = await service.call('GET', '/api-v1/platform/webhooks/deliveries?type=webhook.test&limit=1');
  const [tried] = await find(tests.json[0].eventId);
  assert.equal(tried?.id, tests.json[0].id);
  assert.deepEqual(await find('evt_nothing'), []);
  assert.deepEqual(await find(tests.json[0].id), []);
  assert.deepEqual(await find(first[0]?.id.replace('dlv_', 'evt_') ?? ''), []);
});

test('saving sends a test; the event then arrives with both signatures over its exact bytes', async () => {
  const made = await service.call('POST', '/api-v1/platform/webhooks/endpoints', {
    body: { url: receiver.url, eventTypes: ['vault.deactivated'], description: 'Grüße' },
  });
  assert.equal(made.json.test.delivered, true);
  assert.equal(made.json.test.statusCode, 204);
  assert.equal(JSON.parse(receiver.received[0]?.body ?? '').type, 'webhook.test');
  assert.match(made.json.secret, /^whsec_/);

  await makeEvent();
  await makeEvent('reactivate');
  const { headers, body } = await waitUntil(() => receiver.received[1] ?? null);
  const event = JSON.parse(body);
  assert.equal(event.type, 'vault.deactivated');
  assert.equal(headers['content-type'], 'application/json');
  assert.equal(
    headers['x-service-signature'],
    `sha256=${createHmac('sha256', made.json.secret).update(body).digest('hex')}`,
  );
  assert.doesNotThrow(() => new Webhook(made.json.secret).verify(body, headers as Record<string, string>));

  const delivery = await deliveryOf(made.json.id, 'succeeded');
  assert.equal(delivery.eventId, event.id);
  assert.equal(delivery.envelope, body);
  assert.equal(delivery.attempts.length, 1);
  const { json: all } = await service.call(
    'GET',
    `/api-v1/platform/webhooks/deliveries?endpointId=${made.json.id}`,
  );
  assert.deepEqual(
    all.map(({ type }: { type: string }) => type),
    ['vault.deactivated', 'webhook.test'],
    'the type that was not subscribed to is not sent',
  );
  const feed = await service.call('GET', '/api-v1/platform/events');
  assert.ok(feed.text.includes(body), 'the feed has the same bytes');
});

test('tries a failing delivery six times, marks it failed, and can retry it by hand', async () => {
  const { id } = await subscribe();
  receiver.answer = (response) => response.writeHead(500).end('broken');
  await makeEvent();
  const failed = await deliveryOf(id, 'failed');
  assert.deepEqual(
    failed.attempts.map(({ number }: { number: number }) => number),
    [1, 2, 3, 4, 5, 6],
  );
  assert.equal(failed.attempts[0].statusCode, 500);
  assert.equal(failed.attempts[0].responseBody, 'broken');
  assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1, 'the same bytes each time');
  assert.equal(
    (await service.call('GET', `/api-v1/platform/webhooks/endpoints/${id}`)).json.status,
    'failing',
  );

  receiver.answer = (response) => response.writeHead(200).end('ok');
  assert.equal(
    (await service.call('POST', `/api-v1/platform/webhooks/deliveries/${failed.id}/retry`)).status,
    202,
  );
  const succeeded = await deliveryOf(id, 'succeeded');
  assert.equal(succeeded.id, failed.id);
  assert.equal(succeeded.attempts.length, 7);
  assert.equal(
    (await service.call('POST', `/api-v1/platform/webhooks/deliveries/${failed.id}/retry`)).status,
    409,
  );
  await waitUntil(
    async () =>
      (await service.call('GET', `/api-v1/platform/webhooks/endpoints/${id}`)).json.status === 'active',
  );
  await makeEvent('reactivate');
});

test('a 410 disables the endpoint with an event, and skips later deliveries', async () => {
  const { id } = await subscribe();
  receiver.answer = (response) => response.writeHead(410).end();
  await makeEvent();
  await deliveryOf(id, 'failed');
  const endpoint = (await service.call('GET', `/api-v1/platform/webhooks/endpoints/${id}`)).json;
  assert.equal(endpoint.enabled, false);
  assert.equal(endpoint.disabledReason, 'gone');
  await waitUntil(async () => {
    const { json } = await service.call('GET', '/api-v1/platform/events?type=endpoint.disabled');
    return json.some((event: { data: { endpoint_id: string } }) => event.data.endpoint_id === id);
  });
  await makeEvent('reactivate');
  const skipped = await deliveryOf(id, 'skipped');
  assert.equal(skipped.attempts.length, 0);
});

for (const [name, answer, error, by = () => service] of [
  [
    'a redirect',
    (response) => response.writeHead(302, { location: 'https://127.0.0.1:1/' }).end(),
    /redirects are not followed/,
  ],
  ['a receiver that never answers', () => {}, /No complete response within 0.3 s/, () => hasty],
  ['a connection reset', (response) => response.socket?.destroy(), /closed the connection|reset/],
  [
    'one byte at a time',
    (response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('x'), 100);
      response.on('close', () => clearInterval(drip));
    },
    /No complete response within 0.3 s/,
    () => hasty,
  ],
] as [string, Receiver['answer'], RegExp, (() => Service)?][]) {
  test(`reports ${name} as a failure, in words`, async () => {
    await subscribe();
    receiver.answer = answer;
    const { id } = (await service.call('GET', '/api-v1/platform/webhooks/endpoints')).json[0];
    const outcome = await by().call('POST', `/api-v1/platform/webhooks/endpoints/${id}/test`, {
      key: service.key,
    });
    assert.equal(outcome.json.delivered, false);
    assert.match(outcome.json.error, error);
  });
}

test('reads only the start of an endless answer, and counts the delivery', async () => {
  const { id } = await subscribe();
  receiver.answer = (response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(64 * 1024, 'a');
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', more);
    more();
  };
  await makeEvent();
  const delivery = await deliveryOf(id, 'succeeded');
  assert.equal(delivery.attempts[0].responseBody.length, 16 * 1024);
  receiver.answer = (response) => response.writeHead(204).end();
  await makeEvent('reactivate');
});

test('refuses a private address, plain http and credentials when saving, and stores nothing', async () => {
  const count = () =>
    withClient(
      { connectionString: service.databaseUrl },
      async (client) => (await client.query('select count(*) from webhook_endpoints')).rows[0].count,
    );
  const before = await count();
  for (const url of [
    'https://10.0.0.1/',
    'http://93.184.216.34/',
    'https://u:p@93.184.216.34/',
    'https://[::1]/',
    'nonsense',
    'http://nobody.invalid/x',
  ]) {
    const refused = await service.call('POST', '/api-v1/platform/webhooks/endpoints', {
      body: { url, eventTypes: ['vault.deactivated'] },
    });
    assert.equal(refused.status, 400, url);
    assert.match(refused.json.message, /url/);
  }
  assert.equal(await count(), before);
});

test('a rotated secret signs at once, and the old one continues in the standard header', async () => {
  const { id, secret: old } = await subscribe();
  const { secret } = (await service.call('POST', `/api-v1/platform/webhooks/endpoints/${id}/rotate-secret`))
    .json;
  assert.equal(
    (await service.call('GET', `/api-v1/platform/webhooks/endpoints/${id}/secret`)).json.secret,
    secret,
  );
  await makeEvent();
  const { headers, body } = await waitUntil(() => receiver.received[0] ?? null);
  assert.doesNotThrow(() => new Webhook(secret).verify(body, headers as Record<string, string>));
  assert.doesNotThrow(() => new Webhook(old).verify(body, headers as Record<string, string>));
  assert.equal(
    headers['x-service-signature'],
    `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  );
  await makeEvent('reactivate');
});

test('an event committed while no node sends arrives later, and claims of a dead node end soon', async () => {
  const quiet = await startService({ env: env(), runLoops: false });
  try {
    const made = await quiet.call('POST', '/api-v1/platform/vaults', { body: { name: 'w' } });
    const endpoint = await quiet.call('POST', '/api-v1/platform/webhooks/endpoints', {
      body: { url: receiver.url, eventTypes: ['vault.deactivated'] },
    });
    assert.equal(endpoint.status, 201);
    await quiet.call('PATCH', `/api-v1/platform/vaults/${made.json.address}/deactivate`);
    // As a node leaves it that is killed right after its claim.
    await withClient({ connectionString: quiet.databaseUrl }, async (client) => {
      await client.query('insert into webhook_nodes (id) values (7)');
      const { rowCount } = await client.query(
        "update webhook_queue set claim_id = 'dead', claimed_by = 7, lease_until = now() + interval '1 hour'",
      );
      assert.equal(rowCount, 1);
    });
    quiet.app.loops.start();
    await waitUntil(() =>
      receiver.received.some(({ body }) => JSON.parse(body).type === 'vault.deactivated'),
    );
  } finally {
    await quiet.close();
  }
});
