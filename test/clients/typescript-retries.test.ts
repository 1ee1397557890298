/** When the TypeScript client tries again, with answers written here, and what it says when it gives up. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import {
  ConnectionError,
  createClient,
  ForbiddenError,
  HoldfastError,
  RateLimitExceededError,
  ServiceUnavailableError,
  UnauthorizedError,
} from '../../clients/typescript/src/main.ts';

interface Written {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

const unavailable = { status: 503, body: { errorCode: 'service_unavailable', message: 'Away.' } };
const vault = { status: 201, body: { id: 'vlt_1' } };

/** Answers in this order; the last one stays. `lost` is a connection that breaks. */
function scripted(...answers: (Written | 'lost')[]) {
  const requests: { url: string; init: RequestInit }[] = [];
  const answering = async (url: string | URL | Request, init: RequestInit = {}) => {
    const next = answers[Math.min(requests.length, answers.length - 1)] ?? 'lost';
    requests.push({ url: String(url), init });
    if (next === 'lost') throw new TypeError('fetch failed');
    const { status, body, headers = {} } = next;
    const text = typeof body === 'string' ? body : JSON.stringify(body ?? {});
    const type = { 'content-type': typeof body === 'string' ? 'text/html' : 'application/json' };
    return new Response(status === 204 ? null : text, { status, headers: { ...type, ...headers } });
  };
  const client = createClient({
    baseUrl: 'https://h.example/',
    apiKey: 'k',
    fetch: answering as typeof fetch,
  });
  return { client, requests };
}

/** Waits for nothing: every timer runs at once, and is written down. */
async function withoutWaiting<T>(work: () => Promise<T>): Promise<{ outcome: T; waitsMs: number[] }> {
  const waitsMs: number[] = [];
  const timers = mock.method(globalThis, 'setTimeout', (go: () => void, ms = 0) => {
    waitsMs.push(ms);
    setImmediate(go);
    return 0;
  });
  try {
    return { outcome: await work(), waitsMs };
  } finally {
    timers.mock.restore();
  }
}

test('waits as long as the service asks, and otherwise longer each time', async () => {
  const limited = {
    status: 429,
    body: { errorCode: 'rate_limit_exceeded' },
    headers: { 'retry-after': '7' },
  };
  const { client, requests } = scripted(limited, unavailable, unavailable, unavailable, vault);
  const { outcome, waitsMs } = await withoutWaiting(() => client.createVault({ name: 'x' }));
  assert.equal(outcome.id, 'vlt_1');
  const [asked, ...own] = waitsMs;
  assert.equal(asked, 7000);
  for (const [place, ms] of own.entries()) {
    const full = 500 * 2 ** (place + 1);
    assert.ok(ms >= full / 2 && ms <= full, `${ms} of ${full}`);
  }
  assert.equal(own.length, 3);
  assert.equal(requests.length, 5);
});

test('does not wait for a service that asks for more than two minutes', async () => {
  const { client, requests } = scripted({ ...unavailable, headers: { 'retry-after': '121' } });
  await assert.rejects(client.getStats(), { retryAfterMs: 121_000 });
  assert.equal(requests.length, 1);
});

test('gives up after the given number of retries, with the last error', async () => {
  const { client, requests } = scripted(unavailable);
  const { outcome } = await withoutWaiting(() => client.getStats().catch((error) => error));
  assert.ok(outcome instanceof ServiceUnavailableError);
  assert.equal(requests.length, 6);
  await withoutWaiting(() => client.getStats({}, { retries: 1 }).catch(() => null));
  assert.equal(requests.length, 8);
});

test('repeats after a lost answer only what may be repeated', async () => {
  const cases: [
    name: string,
    call: (client: ReturnType<typeof createClient>) => Promise<unknown>,
    sent: number,
  ][] = [
    ['reading', (client) => client.getVault({ vaultAddress: '0x1' }), 6],
    ['creating, with a key', (client) => client.createVault({ name: 'x' }), 6],
    ['reading with POST', (client) => client.listVaultTransactions({ vaultAddress: '0x1' }).page(), 6],
    ['replacing', (client) => client.updateVault({ vaultAddress: '0x1', name: 'x' }), 6],
    ['deleting', (client) => client.deleteEndpoint({ endpointId: 'whe_1' }), 6],
    ['a POST without a key', (client) => client.testEndpoint({ endpointId: 'whe_1' }), 1],
    ['a change of a version', (client) => client.updateAsset({ assetId: 'a' }, { ifMatch: '"1"' }), 1],
  ];
  const failures = [
    ['lost', ConnectionError],
    [{ status: 502, body: '<html>' }, { status: 502 }],
    [{ status: 500, body: {} }, { status: 500 }],
  ] as const;
  for (const [failure, error] of failures) {
    for (const [name, call, sent] of cases) {
      const { client, requests } = scripted(failure);
      await withoutWaiting(() => assert.rejects(call(client), error));
      assert.equal(requests.length, sent, name);
    }
  }
  const { client, requests } = scripted(unavailable, { status: 200, body: {} });
  await withoutWaiting(() => client.testEndpoint({ endpointId: 'whe_1' }));
  assert.equal(requests.length, 2, 'the service did nothing of a request that it answers with 503');
});

test('does not repeat what the service refused', async () => {
  for (const status of [400, 401, 403, 404, 409, 412, 422]) {
    const { client, requests } = scripted({ status, body: { errorCode: 'newer_code', message: 'No.' } });
    const error = await client.createVault({ name: 'x' }).catch((error) => error);
    assert.ok(error instanceof HoldfastError);
    assert.deepEqual([error.errorCode, error.message, error.status], ['newer_code', 'No.', status]);
    assert.equal(requests.length, 1);
  }
  const running = {
    status: 409,
    body: { errorCode: 'idempotency_in_progress' },
    headers: { 'retry-after': '1' },
  };
  const { client } = scripted(running, vault);
  const { outcome } = await withoutWaiting(() => client.createVault({ name: 'x' }));
  assert.equal(outcome.id, 'vlt_1');
});

test('an answer of a proxy is an error with its status, and never a crash', async () => {
  const { client } = scripted({ status: 404, body: '<html>no such host</html>' });
  const error = await client.getStats().catch((error) => error);
  assert.ok(error instanceof HoldfastError && !(error instanceof RateLimitExceededError));
  assert.deepEqual([error.status, error.errorCode], [404, '']);
  const odd = scripted({ status: 404, body: { errorCode: '__proto__', message: 7 } });
  await assert.rejects(odd.client.getStats(), { errorCode: '__proto__', status: 404 });
});

test('stops when the caller does, also while it waits', async () => {
  const { client, requests } = scripted({ ...unavailable, headers: { 'retry-after': '100' } });
  const stopping = new AbortController();
  const stopped = client.getStats({}, { signal: stopping.signal });
  setImmediate(() => stopping.abort(new Error('enough')));
  await assert.rejects(stopped, /enough/);
  assert.equal(requests.length, 1);
  await assert.rejects(client.getStats({}, { signal: AbortSignal.abort(new Error('before')) }), /before/);
});

test('sends the key to the service only, and never follows a redirect with it', async () => {
  const { client, requests } = scripted({ status: 200, body: {} });
  await client.getVault({ vaultAddress: 'a/b?c' });
  const [request] = requests;
  assert.equal(request?.url, 'https://h.example/api-v1/platform/vaults/a%2Fb%3Fc');
  assert.equal(request?.init.redirect, 'error');
  assert.equal(new Headers(request?.init.headers).get('x-api-key'), 'k');
  const lost = await scripted('lost')
    .client.getStats({}, { retries: 0 })
    .catch((error) => error);
  assert.ok(lost instanceof ConnectionError);
  assert.match(lost.message, /^h\.example cannot be reached/);
});

test('events go on once a service that was away is back, and end when it refuses', async () => {
  const event = { id: 'evt_1', type: 'vault.deactivated', data: {} };
  const feed = { status: 200, body: [event], headers: { 'x-next-cursor': 'c1' } };
  const away = Array.from({ length: 7 }, () => 'lost' as const);
  const { client, requests } = scripted(...away, feed, { status: 401, body: { errorCode: 'unauthorized' } });
  await withoutWaiting(async () => {
    const events = client.followEvents();
    const { value } = await events.next();
    assert.deepEqual(value, { event, cursor: 'c1' });
    await assert.rejects(events.next(), UnauthorizedError);
  });
  assert.match(requests.at(-1)?.url ?? '', /cursor=c1/);
  const text = `id: c2\n\nid: c3\ndata: ${JSON.stringify(event)}\n\n`;
  const refused = { status: 403, body: { errorCode: 'forbidden' } };
  const streaming = scripted(
    ...away,
    { status: 200, body: text },
    unavailable,
    { status: 200, body: text },
    refused,
  );
  await withoutWaiting(async () => {
    const events = streaming.client.streamEvents();
    for (const _ of ['first', 'second']) {
      const { value } = await events.next();
      assert.deepEqual(value, { event, cursor: 'c3' });
    }
    await assert.rejects(events.next(), ForbiddenError);
  });
  assert.match(streaming.requests.at(-1)?.url ?? '', /cursor=c3/);
});
