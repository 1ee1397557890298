/** One exchange with a receiver: what is sent, kept and reported, and when it is cut off. */
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { certificate, type Receiver, startReceiver } from '../../../test/support/clients/receiver.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { createAddressGuard, toAllowList } from '../../egress/address-guard.ts';
import { createExchanger, type Exchanger, type Outcome } from './exchange.ts';

/** For receivers that must be cut off. */
const hurriedMs = 600;
/** For exchanges that must end by themselves: no machine is this slow. */
const patientMs = 600_000;

let receiver: Receiver;
let exchanger: Exchanger;
before(async () => {
  receiver = await startReceiver();
  exchanger = newExchanger();
});
after(async () => {
  await exchanger.close();
  await receiver.close();
});
beforeEach(() => {
  receiver.received.length = 0;
});

function newExchanger(timeoutMs = patientMs): Exchanger {
  const guard = createAddressGuard(toAllowList(['127.0.0.0/8']));
  return createExchanger({ guard, timeoutMs, caFile: certificate().caFile });
}

function post(body = '{}', path = '', from = exchanger): Promise<Outcome> {
  const headers = { 'content-type': 'application/json', 'webhook-id': 'evt_1' };
  return from.post({ url: new URL(receiver.url + path), headers, body });
}

const answer = (work: (response: ServerResponse) => void) => {
  receiver.answer = work;
};

test('posts body and headers unchanged, and reports the response', async () => {
  answer((response) => response.writeHead(201, { 'x-told': ['a', 'b'], 'retry-after': '7' }).end('grüezi'));
  const outcome = await post('{"a":"ü"}', '?x=1');
  assert.equal(receiver.received[0]?.body, '{"a":"ü"}');
  assert.equal(receiver.received[0]?.headers['webhook-id'], 'evt_1');
  assert.equal(receiver.received[0]?.headers['content-length'], '10');
  const { durationMs, responseHeaders, ...rest } = outcome;
  assert.deepEqual(rest, {
    statusCode: 201,
    error: null,
    responseBody: 'grüezi',
    retryAfter: '7',
    cutOff: false,
  });
  assert.equal(responseHeaders['x-told'], 'a, b');
  assert.ok(Number.isInteger(durationMs) && durationMs >= 0);
});

for (const [status, error] of [
  [200, null],
  [299, null],
  [304, 'The receiver answered 304; redirects are not followed.'],
  [404, 'The receiver answered 404.'],
  [410, 'The receiver answered 410 Gone.'],
  [599, 'The receiver answered 599.'],
] as const) {
  test(`reports ${status} as ${error ?? 'a success'}`, async () => {
    answer((response) => response.writeHead(status).end());
    assert.equal((await post()).error, error);
  });
}

test('keeps 16 KB of a long response, and repairs text that PostgreSQL cannot store', async () => {
  answer((response) => response.writeHead(200).end(`\0${'ü'.repeat(20_000)}`));
  const { responseBody, error } = await post();
  assert.equal(error, null);
  assert.match(responseBody, /^\uFFFDü+\uFFFD?$/);
  assert.ok(Buffer.byteLength(responseBody) < 16 * 1024 + 8);
  assert.ok(responseBody.isWellFormed());
});

test('keeps a limited part of many or long headers', async () => {
  answer((response) => {
    for (let header = 0; header < 100; header += 1) response.setHeader(`x-${header}`, 'v');
    response.setHeader('x-0', 'v'.repeat(5000));
    response.writeHead(200).end();
  });
  const { responseHeaders } = await post();
  assert.ok(Object.keys(responseHeaders).length <= 50);
  assert.equal(responseHeaders['x-0']?.length, 1000);
});

test('the timeout covers the whole exchange: cuts off a slow response and closes its connection', async (t) => {
  const hurried = newExchanger(hurriedMs);
  t.after(() => hurried.close());
  // Over an open connection: connecting counts towards the time-out too, and is not the subject here.
  await waitUntil(async () => {
    answer((response) => response.writeHead(204).end());
    return (await post('{}', '', hurried)).error === null;
  });
  let closed = false;
  answer((response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write('x'), 20);
    response.on('close', () => {
      closed = true;
      clearInterval(drip);
    });
  });
  // The response would never end by itself.
  const outcome = await post('{}', '', hurried);
  assert.equal(outcome.error, 'No complete response within 0.6 s.');
  assert.equal(outcome.statusCode, 200);
  assert.ok(outcome.durationMs > hurriedMs / 2, `${outcome.durationMs} ms`);
  await waitUntil(() => closed);
});

test('does not send a request that timed out while it waited for a connection', async () => {
  const paths: string[] = [];
  const plain = createServer((request, response) => {
    paths.push(request.url ?? '');
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  const found = Promise.withResolvers<void>();
  const guard = createAddressGuard(toAllowList(['slow.example']), async () => {
    await found.promise;
    return [{ address: '127.0.0.1', family: 4 }];
  });
  const slow = createExchanger({ guard, timeoutMs: hurriedMs, caFile: null });
  const send = (path: string) => {
    const url = new URL(`http://slow.example:${(plain.address() as AddressInfo).port}${path}`);
    return slow.post({ url, headers: {}, body: '{}' });
  };
  try {
    const outcomes = await Promise.all(['/1', '/2', '/3'].map(send));
    for (const { error } of outcomes) assert.equal(error, 'No complete response within 0.6 s.');
    found.resolve();
    await waitUntil(async () => (await send('/next')).error === null);
    assert.deepEqual(new Set(paths), new Set(['/next']));
  } finally {
    await slow.close();
    plain.closeAllConnections();
    plain.close();
  }
});

test('closing ends exchanges in progress at once', async () => {
  const closing = newExchanger();
  answer(() => {});
  const underWay = post('{"close":true}', '', closing);
  await waitUntil(() => receiver.received.some(({ body }) => body === '{"close":true}'));
  // The receiver never answers, so only `close` can end this.
  await closing.close();
  assert.notEqual((await underWay).error, null);
});

test('explains a refused connection and an unknown host name in words', async () => {
  const refused = await startReceiver();
  const { url } = refused;
  await refused.close();
  const outcome = await exchanger.post({ url: new URL(url), headers: {}, body: '{}' });
  assert.equal(outcome.error, 'The connection was refused.');
  assert.equal(outcome.statusCode, null);
  const lost = createExchanger({
    guard: createAddressGuard(toAllowList([]), async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    }),
    timeoutMs: patientMs,
    caFile: null,
  });
  const unknown = await lost.post({ url: new URL('https://nowhere.example.org/'), headers: {}, body: '{}' });
  assert.equal(unknown.error, 'The host name was not found.');
  await lost.close();
});

test('reports an exchange interrupted by the stop of the service as cut off', async () => {
  answer(() => {});
  const stopping = newExchanger();
  const outcome = post('{}', '', stopping);
  await waitUntil(() => receiver.received.length === 1);
  await stopping.close();
  assert.equal((await outcome).cutOff, true);
});
