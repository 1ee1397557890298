/** Every kind of bad receiver at once: each ends with words in its log, and neither others nor the memory suffer. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { allAttempts, type Hostile, startHostileReceivers, timeoutMs } from './hostile-receivers.ts';
import { type RunningService, serve, waitUntil } from './process.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** What the process may grow by while a gigabyte and a bomb of 256 MB are thrown at it. */
const mostGrowthBytes = 128 * 1024 * 1024;
/** Healthy events in each of the two measurements. */
const eventCount = 60;
const hourMs = 3_600_000;

let database: TestDatabase;
let dataDir: string;
let service: RunningService;
let healthy: Receiver;
let redirecting: Receiver;
let inside: Server;
let insideConnections = 0;
let hostile: Hostile[];
let key: string;
/** Vaults that are deactivated already, each good for one event to the healthy receiver. */
let resting: string[];
let alone: number[];
let beside: number[];
let growthBytes: number;
const endpointIds = new Map<string, string>();

async function call(method: string, path: string, body?: object) {
  const response = await fetch(service.url + path, {
    method,
    headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
  return text === '' ? null : JSON.parse(text);
}

const makeVault = async () =>
  (await call('POST', '/api-v1/platform/vaults', { name: 'v' })).address as string;
const move = (vault: string, to: string) => call('PATCH', `/api-v1/platform/vaults/${vault}/${to}`);

async function subscribe(url: string, type: string): Promise<string> {
  return (await call('POST', '/api-v1/platform/webhooks/endpoints', { url, eventTypes: [type] })).id;
}

/** Times from the change to its arrival, sorted; one change after the other. */
async function measure(): Promise<number[]> {
  const latencies: number[] = [];
  healthy.answer = (response, { body }) => {
    latencies.push(Date.now() - Date.parse(JSON.parse(body).timestamp));
    response.writeHead(204).end();
  };
  for (let count = 0; count < eventCount; count += 1) {
    await move(resting.pop() as string, 'reactivate');
    await waitUntil(() => latencies.length === count + 1);
  }
  return latencies.sort((a, b) => a - b);
}

async function rssBytes(): Promise<number> {
  const status = await readFile(`/proc/${service.child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

before(async () => {
  [database, dataDir] = await Promise.all([
    createTestDatabase(),
    mkdtemp(join(tmpdir(), 'holdfast-hostile-')),
  ]);
  const started = await startHostileReceivers();
  hostile = started.hostile;
  [healthy, redirecting] = await Promise.all([startReceiver(), startReceiver()]);
  inside = createServer(() => (insideConnections += 1));
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
  const { port } = inside.address() as { port: number };
  redirecting.answer = (response) =>
    response.writeHead(307, { location: `https://127.0.0.1:${port}/` }).end();
  service = await serve({
    HOLDFAST_DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    HOLDFAST_WEBHOOK_ALLOW: '127.0.0.0/8',
    HOLDFAST_WEBHOOK_CA_FILE: started.caFile,
    HOLDFAST_WEBHOOK_TIMEOUT_MS: String(timeoutMs),
    HOLDFAST_WEBHOOK_RETRY_SCHEDULE: '100ms',
  });
  key = /hf_live_\w+/.exec(service.stdout())?.[0] ?? '';
  const sent = await makeVault();
  resting = await Promise.all(Array.from({ length: 2 * eventCount + 20 }, makeVault));
  await Promise.all(resting.map((vault) => move(vault, 'deactivate')));

  const healthyId = await subscribe(healthy.url, 'vault.reactivated');
  assert.ok(healthyId);
  for (let warm = 0; warm < 20; warm += 1) await move(resting.pop() as string, 'reactivate');
  await waitUntil(() => healthy.received.length >= 21);
  alone = await measure();

  const all = [
    ...hostile.map(({ name, url }) => ({ name, url })),
    { name: 'redirect', url: redirecting.url },
  ];
  await Promise.all(
    all.map(async ({ name, url }) => endpointIds.set(name, await subscribe(url, 'vault.deactivated'))),
  );
  const before = await rssBytes();
  let most = before;
  const watch = setInterval(() => void rssBytes().then((bytes) => (most = Math.max(most, bytes))), 20);
  await move(sent, 'deactivate');
  beside = await measure();
  await waitUntil(async () => {
    const open = await Promise.all(
      ['pending', 'delivering'].map((status) =>
        call('GET', `/api-v1/platform/webhooks/deliveries?status=${status}`),
      ),
    );
    // Those asked to come back later are still open, and nothing else.
    return open.flat().length === hostile.filter(({ status }) => status === 'pending').length;
  }, 20_000);
  clearInterval(watch);
  growthBytes = most - before;
});

after(async () => {
  service?.child.kill('SIGTERM');
  await service?.exited;
  for (const receiver of [...(hostile ?? []), healthy, redirecting]) await receiver?.close();
  inside?.close();
  await database?.drop();
  await rm(dataDir, { recursive: true, force: true });
});

async function deliveriesTo(name: string) {
  const list = await call(
    'GET',
    `/api-v1/platform/webhooks/deliveries?endpointId=${endpointIds.get(name)}&type=vault.deactivated`,
  );
  return Promise.all(
    list.map(({ id }: { id: string }) => call('GET', `/api-v1/platform/webhooks/deliveries/${id}`)),
  );
}

test('each ends as it should, with every attempt in the log and what went wrong in words', async (t) => {
  for (const { name, status, attempts, statusCode, error } of hostile) {
    await t.test(name, async () => {
      const deliveries = await deliveriesTo(name);
      assert.equal(deliveries.length, 1);
      for (const delivery of deliveries) {
        assert.equal(delivery.status, status, JSON.stringify(delivery.attempts));
        assert.equal(delivery.attempts.length, attempts);
        for (const attempt of delivery.attempts) {
          assert.equal(attempt.statusCode, statusCode, attempt.error);
          if (error === null) assert.equal(attempt.error, null);
          else assert.match(attempt.error, error);
          assert.doesNotMatch(attempt.error ?? '', /[A-Z]_[A-Z]|undefined|\[object/, 'words, not codes');
          assert.ok(attempt.responseBody.length <= 16 * 1024);
          assert.ok(attempt.durationMs < 2 * timeoutMs, `${attempt.durationMs} ms`);
        }
      }
    });
  }
});

test('Retry-After is honoured as seconds and as a date, and never leads beyond a day', async () => {
  const waits = new Map<string, number>();
  for (const { name } of hostile.filter(({ status }) => status === 'pending'))
    for (const { nextAttemptAt, attempts } of await deliveriesTo(name))
      waits.set(name, Date.parse(nextAttemptAt) - Date.parse(attempts[0].at));
  const near = (name: string, ms: number) =>
    assert.ok(Math.abs((waits.get(name) ?? 0) - ms) < 5000, `${name}: ${waits.get(name)} ms`);
  near('429 with Retry-After in seconds', hourMs);
  near('429 with Retry-After as a date', 2 * hourMs);
  near('503 with Retry-After beyond a day', 24 * hourMs);
});

test('a redirect is a failure that leads nowhere: its target sees no connection', async () => {
  for (const { status, attempts } of await deliveriesTo('redirect')) {
    assert.equal(status, 'failed');
    for (const { error, statusCode } of attempts) {
      assert.equal(statusCode, 307);
      assert.equal(error, 'The receiver answered 307; redirects are not followed.');
    }
  }
  assert.equal(redirecting.received.length, 1 + allAttempts, 'the test, and each attempt once');
  assert.equal(insideConnections, 0);
});

test('the one that answered 410 is disabled, and the others are not', async () => {
  for (const { id, enabled, disabledReason } of await call('GET', '/api-v1/platform/webhooks/endpoints')) {
    const isGone = id === endpointIds.get('410');
    assert.deepEqual([enabled, disabledReason], isGone ? [false, 'gone'] : [true, null]);
  }
});

test('of a gigabyte little is read, a gzip bomb is not inflated, and the memory stays bounded', async () => {
  const [giant] = hostile.filter(({ name }) => name === 'answers with a gigabyte');
  // Two answers: the test and the event. What is beyond 16 KB lay in buffers of the kernels and of TLS.
  assert.ok((giant?.bytesSent() ?? Infinity) < 2 * 16 * 1024 * 1024, `${giant?.bytesSent()} bytes`);
  assert.ok((giant?.bytesSent() ?? 0) > 2 * 16 * 1024);
  const [bombed] = await deliveriesTo('answers with a gzip bomb');
  const { responseBody, responseHeaders } = bombed.attempts[0];
  assert.equal(responseHeaders['content-encoding'], 'gzip');
  assert.equal(responseBody.charCodeAt(0), 0x1f, 'the bytes as they came');
  assert.ok(growthBytes < mostGrowthBytes, `${growthBytes} bytes more`);
});

test('a healthy receiver gets its events as fast as without them', () => {
  const at = (sorted: number[], part: number) => sorted[Math.floor(sorted.length * part)] ?? Infinity;
  // The floors keep the scheduling of a busy machine out of it, which thirty TLS servers of this test share with it.
  for (const [part, floorMs] of [
    [0.5, 50],
    [0.95, 150],
  ] as const) {
    const [without, withThem] = [at(alone, part), at(beside, part)];
    assert.ok(
      withThem <= Math.max(1.2 * without, without + floorMs),
      `${without} ms alone, ${withThem} ms beside`,
    );
  }
});

test('the service is well afterwards and has met no fault', async () => {
  assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
  assert.equal(service.child.exitCode, null);
  assert.doesNotMatch(service.stderr(), /"level":"(error|fatal)"|Unhandled|at .*\.ts:\d+/);
});
