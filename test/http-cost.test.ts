/** No request holds up the others: whatever a route is sent, within its limit, costs the event loop little and in proportion. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hostileBodies, hostileForm } from './hostile-bodies.ts';
import {
  credentialsFor,
  fillPath,
  type Operation,
  readOperations,
  webhookSettings,
} from './openapi-operations.ts';
import { makeThings } from './openapi-things.ts';
import { type Service, startService } from './service.ts';

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
let values: Record<string, string>;

before(async () => {
  service = await startService({ env: { ...webhookSettings, HOLDFAST_RATE_LIMIT: 'off' }, runLoops: false });
  operations = await readOperations(service);
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
  const { key = service.key, headers: given } = credentialsFor(operation, values);
  const all = { ...(key !== null && { 'x-api-key': key }), ...given, ...headers };
  const url = fillPath(operation, values) + query;
  const { method } = operation;
  const before = process.threadCpuUsage();
  const answer = headers['content-type']?.startsWith('multipart/')
    ? await fetchWhole(url, { method, headers: all, body })
    : await service.app.server.http.inject({
        method: method as 'POST',
        url,
        headers: { host: 'localhost', ...all },
        ...(body && { payload: body }),
      });
  const { user, system } = process.threadCpuUsage(before);
  return { ms: (user + system) / 1_000, status: answer.statusCode, text: answer.payload };
}

async function fetchWhole(url: string, options: object): Promise<{ statusCode: number; payload: string }> {
  const answer = await fetch(service.url + url, options);
  return { statusCode: answer.status, payload: await answer.text() };
}

/** What it costs at least: now and then something else happens in the thread, such as a collection of garbage. */
async function assertCheap(operation: Operation, what: string, make: (size: number) => Sent, size: number) {
  const cheapest = async (of: number, times: number, enough: number) => {
    let least = Number.POSITIVE_INFINITY;
    for (let n = 0; n < times && least > enough; n += 1) {
      const { ms, status, text } = await costOf(operation, make(of));
      assert.notEqual(status, 500, `${what}: ${text.slice(0, 300)}`);
      least = Math.min(least, ms);
    }
    return least;
  };
  const whole = await cheapest(size, 8, worthComparingMs);
  if (whole <= worthComparingMs) return;
  assert.ok(whole <= mostMs, `${what} of ${size} bytes: ${whole.toFixed(1)} ms`);
  // Over two doublings, where what any request costs, and the collector of garbage, weigh less.
  const quarter = Math.max(usualMs, await cheapest(size / 4, 8, 0));
  const told = `${what}: ${quarter.toFixed(1)} ms, and ${whole.toFixed(1)} ms for four times the size`;
  assert.ok(whole <= mostWhenDoubled ** 2 * quarter, told);
}

const json = { 'content-type': 'application/json' };

/** As its own answer says to a body that is larger than any. */
async function limitOf(operation: Operation): Promise<number> {
  const { status, text } = await costOf(operation, {
    headers: json,
    body: Buffer.alloc(8 * 1024 * 1024, ' '),
  });
  assert.equal(status, 413, operation.name);
  return Number(/than the (\d+) bytes/.exec(text)?.[1]);
}

test('no body that a route takes holds up the event loop, and twice the body costs at most 2.5 times', {
  timeout,
}, async (t) => {
  for (const operation of operations.filter(({ body }) => body)) {
    await t.test(operation.name, async () => {
      const limit = await limitOf(operation);
      const isOpen =
        operation.scope === null && operation.role === null && !operation.path.includes('/sessions');
      assert.ok(limit <= (isOpen ? 4_096 : 1024 * 1024), `${operation.name} takes ${limit} bytes`);
      for (const [what, make] of Object.entries(hostileBodies))
        await assertCheap(operation, what, (size) => ({ headers: json, body: make(size) }), limit);
      if (!operation.takesFile) return;
      const form = (size: number) => {
        const { contentType, body } = hostileForm(size);
        return { headers: { 'content-type': contentType }, body };
      };
      await assertCheap(operation, 'a form of many parts', form, 1024 * 1024);
    });
  }
});

test('nor do long queries, cursors, keys and headers', { timeout }, async (t) => {
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
