/** Every kind of bad receiver at once: each ends with words in its log, and neither others nor the memory suffer. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { idBound } from '../../src/runtime/ids.ts';
import {
  allAttempts,
  type Hostile,
  startHostileReceivers,
  timedOut,
  timeoutMs,
} from '../support/clients/hostile-receivers.ts';
import { type Receiver, startReceiver } from '../support/clients/receiver.ts';
import { createTestDatabase, type TestDatabase, withClient } from '../support/service/database.ts';
import { firstSecretOf, type RunningService, serve, waitUntil } from '../support/service/process.ts';

/** What the process may grow by while a gigabyte and a bomb of 256 MB are thrown at it. */
const mostGrowthBytes = 128 * 1024 * 1024;
/** Healthy events while others keep their requests waiting. */
const eventCount = 20;
const hourMs = 3_600_000;
/** What only those that hang subscribe to beside the rest. */
const again = 'anchor.reorged';

let database: TestDatabase;
let dataDir: string;
let service: RunningService;
let healthy: Receiver;
let redirecting: Receiver;
let inside: Server;
let insideConnections = 0;
let hostile: Hostile[];
let key: string;
/** Whether all healthy events came while every receiver that hangs kept its request waiting. */
let cameMeanwhile = false;
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

async function subscribe(url: string, ...eventTypes: string[]): Promise<string> {
  return (await call('POST', '/api-v1/platform/webhooks/endpoints', { url, eventTypes })).id;
}

/** All in one commit. */
let events = 0;
async function makeEvents(type: string, count = 1): Promise<void> {
  await withClient({ connectionString: database.url }, (client) =>
    client.query(
      `insert into events (workspace_id, id, type, envelope)
       select w.id, $1 || lpad(($2::integer + n)::text, 16, '0'), $3, '{}'
       from workspaces w, generate_series(1, $4::integer) as n`,
      [idBound('evt', new Date()), events, type, count],
    ),
  );
  events += count;
}

/** Of its memory, by the kernel's own account; the peak is since it was last forgotten. */
async function rssBytes(which: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${service.child.pid}/status`, 'utf8');
  return Number(new RegExp(`${which}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}

/** See clear_refs in proc_pid_clear_refs(5). */
async function forgetPeak(): Promise<number> {
  await writeFile(`/proc/${service.child.pid}/clear_refs`, '5');
  return rssBytes('VmRSS');
}

/** From when all of them hang: whoever waits for one of them waits until its time is over. */
async function tryBesideHanging(hanging: Hostile[], startHanging: () => Promise<void>): Promise<boolean> {
  const requests = hanging.map((one) => one.requests());
  healthy.received.length = 0;
  await startHanging();
  await waitUntil(() => hanging.every((one, place) => one.requests() > (requests[place] ?? 0)));
  const stillTheSame = hanging.map((one) => {
    const first = one.requests();
    return () => one.requests() === first && one.underWay() > 0;
  });
  await makeEvents('vault.reactivated', eventCount);
  await waitUntil(() => healthy.received.length >= eventCount);
  return stillTheSame.every((isSo) => isSo());
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
  key = await firstSecretOf(service);
  await subscribe(healthy.url, 'vault.reactivated');
  const all = [
    ...hostile.map(({ name, url }) => ({ name, url })),
    { name: 'redirect', url: redirecting.url },
  ];
  // One that does not read does not notice either that it is left.
  const hanging = hostile.filter(({ name, error }) => error === timedOut && name !== 'never reads');
  const subscribeTo = async ({ name, url }: { name: string; url: string }) => {
    const types = ['vault.deactivated', ...(hanging.some((one) => one.name === name) ? [again] : [])];
    endpointIds.set(name, await subscribe(url, ...types));
  };
  // A workspace has at most 20 tests of endpoints under way.
  for (const half of [all.slice(0, 15), all.slice(15)]) await Promise.all(half.map(subscribeTo));
  const before = await forgetPeak();
  cameMeanwhile = await tryBesideHanging(hanging, () => makeEvents('vault.deactivated'));
  await waitUntil(async () => {
    // In one answer: between two of them a delivery can go from the one state to the other, and be in neither.
    const all = await call('GET', '/api-v1/platform/webhooks/deliveries?type=vault.deactivated&limit=1000');
    const open = all.filter(
      ({ status }: { status: string }) => status === 'pending' || status === 'delivering',
    );
    // Those asked to come back later are still open, and nothing else.
    return open.length === hostile.filter(({ status }) => status === 'pending').length;
  });
  growthBytes = (await rssBytes('VmHWM')) - before;
  // On a machine so slow that their time was over before, once more.
  for (let tries = 0; !cameMeanwhile && tries < 3; tries += 1)
    cameMeanwhile = await tryBesideHanging(hanging, () => makeEvents(again));
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

test('each delivery ends as it should, with every attempt and its error in the log', async (t) => {
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
        }
      }
    });
  }
});

test('honours Retry-After as seconds and as a date, but never beyond a day', async () => {
  for (const [name, ms] of [
    ['429 with Retry-After in seconds', hourMs],
    ['429 with Retry-After as a date', 2 * hourMs],
    ['503 with Retry-After beyond a day', 24 * hourMs],
  ] as const) {
    const [{ nextAttemptAt, attempts }] = await deliveriesTo(name);
    // It counts from the answer, which came after the attempt began and before now; a date has no milliseconds.
    const [earliest, latest] = [Date.parse(attempts[0].at) + ms - 1000, Date.now() + ms];
    const next = Date.parse(nextAttemptAt);
    assert.ok(next >= earliest && next <= latest, `${name}: ${nextAttemptAt} after ${attempts[0].at}`);
  }
});

test('a redirect is a failure, and its target sees no connection', async () => {
  const deliveries = await deliveriesTo('redirect');
  assert.equal(deliveries.length, 1);
  for (const { status, attempts } of deliveries) {
    assert.equal(status, 'failed');
    assert.equal(attempts.length, allAttempts);
    for (const { error, statusCode } of attempts) {
      assert.equal(statusCode, 307);
      assert.equal(error, 'The receiver answered 307; redirects are not followed.');
    }
  }
  assert.equal(redirecting.received.length, 1 + allAttempts, 'the test, and each attempt once');
  assert.equal(insideConnections, 0);
});

test('disables only the endpoint that answered 410', async () => {
  for (const { id, enabled, disabledReason } of await call('GET', '/api-v1/platform/webhooks/endpoints')) {
    const isGone = id === endpointIds.get('410');
    assert.deepEqual([enabled, disabledReason], isGone ? [false, 'gone'] : [true, null]);
  }
});

test('reads little of a gigabyte, inflates no gzip bomb, and bounds its memory', async () => {
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

test('a healthy receiver gets its events as fast as without the others', () => {
  // It waits for none of them: all its events came while each of the others still had its request.
  assert.ok(cameMeanwhile);
});

test('the service is healthy afterwards and has logged no error', async () => {
  assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
  assert.equal(service.child.exitCode, null);
  assert.doesNotMatch(service.stderr(), /"level":"(error|fatal)"|Unhandled|at .*\.ts:\d+/);
});
