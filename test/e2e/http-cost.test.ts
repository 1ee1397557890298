/** No request holds up the others: whatever a route is sent, within its limit, costs the event loop little and in proportion. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hostileBodies, hostileForm } from '../support/openapi/hostile-bodies.ts';
import { assertError, sendBytes } from '../support/openapi/openapi-answers.ts';
import {
  credentialsFor,
  fillPath,
  isSuccess,
  type Operation,
  type PathValues,
  readOperations,
  webhookSettings,
} from '../support/openapi/openapi-operations.ts';
import { makeThings, thingsFor } from '../support/openapi/openapi-things.ts';
import { threadCpuMs } from '../support/service/cpu-time.ts';
import { someOf } from '../support/service/long.ts';
import { type Service, startService } from '../support/service/service.ts';

/** Of a walk over all routes, on a machine that has much else to do. */
const timeout = 600_000;
/** CPU time of the thread that everybody shares, so that other work of the machine does not count. */
const mostMs = 50;
/** Below this nothing is compared: it is mostly what any request costs. */
const worthComparingMs = 25;
const mostWhenDoubled = 2.5;
/** What a request may cost whatever its size. */
const usualMs = 6;

let service: Service;
let operations: Operation[];
let values: PathValues;
/** By operation: what it takes away, until it did. */
const fresh = new Map<string, PathValues>();

before(async () => {
  service = await startService({ env: { ...webhookSettings, HOLDFAST_RATE_LIMIT: 'off' }, runLoops: false });
  operations = someOf(await readOperations(service));
  values = await makeThings(service);
});
after(() => service.close());

interface Sent {
  headers?: Record<string, string>;
  body?: Buffer;
  query?: string;
}

/** In milliseconds of CPU; without a socket, so that sending it costs nothing, but for a form, which needs one. */
async function costOf(operation: Operation, { headers = {}, body, query = '' }: Sent) {
  const { method, name } = operation;
  const things = fresh.get(name) ?? (await thingsFor(service, operation, values));
  fresh.set(name, things);
  const { key = service.key, headers: given = {} } = credentialsFor(operation, things);
  const cookie = [headers.cookie, given.cookie].filter(Boolean).join(';');
  const all = { ...(key !== null && { 'x-api-key': key }), ...given, ...headers, ...(cookie && { cookie }) };
  const url = fillPath(operation, things) + query;
  const before = threadCpuMs();
  const answer = headers['content-type']?.startsWith('multipart/')
    ? await fetchWhole(url, { method, headers: all, body })
    : await service.app.server.http.inject({
        method: method as 'POST',
        url,
        headers: { host: 'localhost', ...all },
        ...(body && { payload: body }),
      });
  const ms = threadCpuMs() - before;
  if (answer.statusCode < 300) fresh.delete(name);
  return { ms, status: answer.statusCode, text: answer.payload };
}

async function fetchWhole(url: string, options: object): Promise<{ statusCode: number; payload: string }> {
  const answer = await fetch(service.url + url, options);
  return { statusCode: answer.status, payload: await answer.text() };
}

function assertCheap(operation: Operation, what: string, make: (size: number) => Sent, size: number) {
  return assertBounded(`${what} of ${size} bytes`, async (share) => {
    const { ms, status, text } = await costOf(operation, make(size * share));
    assert.ok(isRead(operation, status, text), `${what}: ${status} ${text.slice(0, 300)}`);
    return ms;
  });
}

/** Whether it got as far as what was sent, which the service took, or named as wrong: other refusals cost nothing. */
function isRead(operation: Operation, status: number, text: string): boolean {
  if (status === 400 || isSuccess(operation, status, text)) return true;
  // The metrics are for loopback, and a request that was passed on is not from there.
  return operation.name === 'GET /metrics' && status === 401;
}

/** What it costs at least: now and then something else happens in the thread, such as a collection of garbage. */
async function assertBounded(what: string, costOfShare: (share: 1 | 0.25) => Promise<number>) {
  const cheapest = async (share: 1 | 0.25, enough: number) => {
    let least = Number.POSITIVE_INFINITY;
    for (let n = 0; n < 8 && least > enough; n += 1) least = Math.min(least, await costOfShare(share));
    return least;
  };
  const whole = await cheapest(1, worthComparingMs);
  if (whole <= worthComparingMs) return;
  assert.ok(whole <= mostMs, `${what}: ${whole.toFixed(1)} ms`);
  // Over two doublings, where what any request costs, and the collector of garbage, weigh less.
  const quarter = Math.max(usualMs, await cheapest(0.25, 0));
  const told = `${what}: ${quarter.toFixed(1)} ms, and ${whole.toFixed(1)} ms for four times the size`;
  assert.ok(whole <= mostWhenDoubled ** 2 * quarter, told);
}

const json = { 'content-type': 'application/json' };

const vaultMember = () => `{"vaultAddress":"${values.vaultAddress}",`;

/** With the one field that many routes need, so that what they can store is stored. */
function inVault(body: Buffer): Buffer {
  return body[0] === '{'.charCodeAt(0) ? Buffer.concat([Buffer.from(vaultMember()), body.subarray(1)]) : body;
}

/** As its own answer says to a body that is larger than any. */
async function limitOf(operation: Operation): Promise<number> {
  const { status, text } = await costOf(operation, {
    headers: json,
    body: Buffer.alloc(8 * 1024 * 1024, ' '),
  });
  assert.equal(status, 413, operation.name);
  return Number(/than the (\d+) bytes/.exec(text)?.[1]);
}

test('no accepted body blocks the event loop, and twice the body costs at most 2.5 times', {
  timeout,
}, async (t) => {
  for (const operation of operations.filter(({ body }) => body)) {
    await t.test(operation.name, async () => {
      const limit = await limitOf(operation);
      const isOpen =
        operation.scope === null && operation.role === null && !operation.path.includes('/sessions');
      assert.ok(limit <= (isOpen ? 4_096 : 1024 * 1024), `${operation.name} takes ${limit} bytes`);
      const complete = (body: Buffer) => (operation.body?.properties?.vaultAddress ? inVault(body) : body);
      for (const [what, make] of Object.entries(hostileBodies)) {
        const sent = (size: number) => ({ headers: json, body: complete(make(size - vaultMember().length)) });
        await assertCheap(operation, what, sent, limit);
      }
      if (!operation.takesFile) return;
      const form = (size: number) => {
        const { contentType, body } = hostileForm(size);
        return { headers: { 'content-type': contentType }, body };
      };
      await assertCheap(operation, 'a form of many parts', form, 1024 * 1024);
    });
  }
});

test('long queries, cursors, keys and headers do not block the event loop', { timeout }, async (t) => {
  /** As much as node lets through for the whole of the headers. */
  const length = 15_000;
  const texts = (size: number) => [
    'a'.repeat(size),
    '%41'.repeat(size / 3),
    '0'.repeat(size),
    'a,'.repeat(size / 2),
  ];
  // A stream of events has no end to wait for.
  for (const operation of operations.filter(({ path }) => !path.endsWith('/stream'))) {
    await t.test(operation.name, async () => {
      const names = operation.parameters.filter((one) => one.in === 'query').map(({ name }) => name);
      for (const place of [0, 1, 2, 3]) {
        const text = (size: number) => texts(size)[place] ?? '';
        await assertCheap(
          operation,
          'a long query',
          (size) => ({
            query: `?${names.map((name) => `${name}=${text(Math.floor(size / (names.length + 1)))}`).join('&')}&${text(200)}`,
          }),
          length,
        );
      }
      await assertCheap(
        operation,
        'many parameters',
        (size) => ({ query: `?${'a=1&'.repeat(size / 4)}` }),
        length,
      );
      const headers = (size: number) => ({
        headers: {
          'idempotency-key': 'k'.repeat(size / 4),
          cookie: 'a=b;'.repeat(size / 16),
          accept: 'text/html,'.repeat(size / 40),
          'x-forwarded-for': '1.1.1.1,'.repeat(size / 32),
          'content-type': `application/json;${' '.repeat(size / 4)}`,
        },
      });
      await assertCheap(operation, 'long headers', headers, length);
    });
  }
});

test('accepts headers up to 15 kB, and refuses 100 kB with 431 and little work', async () => {
  const sent = (bytes: number) =>
    sendBytes(
      service.url,
      `GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\nx: ${'a'.repeat(bytes)}\r\n\r\n`,
    );
  assert.equal((await sent(15_000)).status, 200);
  // Whoever still sends while it is answered gets to read why.
  for (const answer of await Promise.all(Array.from({ length: 50 }, () => sent(300_000)))) {
    assertError(answer, 'headers_too_large');
  }
  await assertBounded('100 kB of headers', async (share) => {
    const before = threadCpuMs();
    assertError(await sent(100_000 * share), 'headers_too_large', /headers are too large/);
    return threadCpuMs() - before;
  });
});

const zeros = (count: number) => Array.from({ length: count }, () => 0);
/** Of about so many bytes, within what a body may have of names and values. */
const storedShapes: Record<string, (bytes: number) => object> = {
  'one long text': (bytes) => ({ t: 'x'.repeat(bytes - 20) }),
  'many elements': (bytes) => ({ a: zeros(Math.min(49_000, bytes / 2 - 20)) }),
  'many names': (bytes) =>
    Object.fromEntries(zeros(Math.min(24_000, bytes / 11 - 20)).map((zero, n) => [`k${n}`, zero])),
  'many long numbers': (bytes) => ({
    a: zeros(Math.min(49_000, bytes / 20 - 20)).map(() => 1 / 3),
  }),
};
/** More than a page has room for. */
const copies = 40;

for (const [shape, make] of Object.entries(storedShapes)) {
  test(`sending stored data does not block the event loop: ${shape}`, { timeout }, async (t) => {
    const { json: vault } = await service.call('POST', '/api-v1/platform/vaults', { body: { name: shape } });
    /** What to get, by what it is: all of it, and a quarter. */
    const urls = new Map<string, Partial<Record<1 | 0.25, string>>>();
    const add = (what: string, share: 1 | 0.25, url: string) =>
      urls.set(what, { ...urls.get(what), [share]: `/api-v1/${url}` });
    for (const share of [1, 0.25] as const) {
      const created = async (path: string, body: object) => {
        const answer = await service.call('POST', `/api-v1/${path}`, {
          body: { vaultAddress: vault.address, ...body },
        });
        assert.ok(answer.status < 300, `${path}: ${answer.text.slice(0, 300)}`);
        return answer.json;
      };
      const { id } = await created('platform/records', { data: make(1_040_000 * share) });
      add('a record', share, `platform/records/${id}`);
      const serialNumber = `${shape} ${share}`;
      const metadata = make(64_000);
      const { assetId } = await created('damc/assets/', { name: 'A', serialNumber, metadata });
      const copy = (table: string, change: string) =>
        service.sql(
          `insert into ${table} select copied.* from ${table} one cross join generate_series(2, $2::integer) as n
           cross join lateral jsonb_populate_record(one, jsonb_build_object(${change})) as copied
           where one.asset_id = $1`,
          [assetId, copies * share],
        );
      await copy('asset_versions', "'version', n");
      await copy('assets', "'asset_id', one.asset_id || n");
      add('an asset', share, `damc/assets/${assetId}/`);
      add('versions of an asset', share, `damc/assets/${assetId}/versions/?limit=1000`);
      const query = `serialNumber=${encodeURIComponent(serialNumber)}&limit=1000`;
      add('assets', share, `damc/assets/?${query}`);
      add('assets found by a word', share, `damc/assets/?q=a&${query}`);
    }
    for (const [what, url] of urls) {
      await t.test(what, () =>
        assertBounded(what, async (share) => {
          const headers = { host: 'localhost', 'x-api-key': service.key };
          const before = threadCpuMs();
          const answer = await service.app.server.http.inject({ url: url[share] ?? '', headers });
          const ms = threadCpuMs() - before;
          assert.equal(answer.statusCode, 200, answer.payload.slice(0, 300));
          return ms;
        }),
      );
    }
  });
}
