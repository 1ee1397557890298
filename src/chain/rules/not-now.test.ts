/** Which answers of a chain node mean "not now", and how calls are repeated after them. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createJsonRpc } from '../rpc/json-rpc.ts';
import { askAgain, isNotNow, NotNow, retryAfterMs } from './not-now.ts';

test('recognizes the answers that mean "not now", and when to retry', () => {
  assert.equal(retryAfterMs({ status: 503 }, '2'), 2_000);
  assert.equal(retryAfterMs({ status: 429 }, null), 1_000);
  assert.equal(retryAfterMs({ status: 503 }, 'Sun, 15 Nov 2026 21:00:00 GMT'), 1_000);
  // The forms that the embedded chain's gateway and providers use.
  assert.equal(retryAfterMs({ status: 200, code: -32002 }, undefined), 1_000);
  assert.equal(retryAfterMs({ status: 200, code: -32005 }, undefined), 1_000);
  for (const status of [200, 400, 404, 500, 502]) assert.equal(retryAfterMs({ status }, '2'), null);
  for (const code of [-32000, -32601, 3]) assert.equal(retryAfterMs({ status: 200, code }, '2'), null);
});

test('repeats a call after "not now" a limited number of times, and after no other error', async () => {
  const said: unknown[] = [new NotNow('busy', 1), new NotNow('busy', 60_000), '0x1', new NotNow('busy', 1)];
  let asked = 0;
  const call = askAgain(
    async () => {
      asked += 1;
      const next = said.shift() ?? new Error('for good');
      if (next instanceof Error) throw new Error('as a client library wraps it', { cause: next });
      return next;
    },
    { mostAgain: 2, longestPauseMs: 1 },
  );
  assert.equal(await call('eth_chainId', []), '0x1');
  assert.equal(asked, 3);
  await assert.rejects(call('eth_chainId', []), isNotNow);
  assert.equal(asked, 4);
  await assert.rejects(call('eth_chainId', []), (error) => !isNotNow(error));
  assert.equal(asked, 5);
});

test('distinguishes over HTTP a busy chain node from an unreachable one', async (t) => {
  const rpc = createJsonRpc({ timeoutMs: 20_000, maxAnswerBytes: 1_000 });
  t.after(() => rpc.close());
  const answers: [number, string, boolean][] = [
    [503, '{"message":"Try again.","errorCode":"service_unavailable"}', true],
    [429, '<h1>Too many</h1>', true],
    [200, '{"jsonrpc":"2.0","id":3,"error":{"code":-32002,"message":"is being made again"}}', true],
    [502, '<h1>Bad gateway</h1>', false],
    [200, '{"jsonrpc":"2.0","id":5,"error":{"code":-32000,"message":"no"}}', false],
  ];
  const url = await serverOf(t, answers);
  for (const [status, , notNow] of answers) {
    await assert.rejects(rpc.call(url, 'eth_chainId'), (error) => isNotNow(error) === notNow, `${status}`);
  }
  await assert.rejects(rpc.call('http://127.0.0.1:9', 'eth_chainId'), (error) => !isNotNow(error));
});

/** Returns these answers one after the other. */
async function serverOf(t: TestContext, answers: [number, string, boolean][]): Promise<string> {
  let asked = 0;
  const server = createServer((_request, response) => {
    const [status, body] = answers[asked] ?? [500, ''];
    asked += 1;
    response.writeHead(status, { 'retry-after': '1' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
