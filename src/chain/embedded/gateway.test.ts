/** The embedded chain's gateway, in front of a fake chain that records its calls. */
// tier: process
import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import { mkdtempSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, type TestContext, test } from 'node:test';
import { waitUntil } from '../../../test/support/service/process.ts';
import { RpcFault } from '../rpc/json-rpc.ts';
import { type Gateway, openGateway } from './gateway.ts';
import { findGateway } from './gateway-file.ts';
import { chainPaths } from './paths.ts';

const dir = mkdtempSync(join(tmpdir(), 'holdfast-gateway-'));
const paths = { ...chainPaths(dir, 1), gatewayFile: join(dir, 'gateway.json') };
const heard: { method: string; params: readonly unknown[] }[] = [];
let behave: (method: string) => Promise<unknown> | null;
let gateway: Gateway;

before(async () => {
  gateway = await open('gateway.json');
});
after(async () => {
  await gateway.close();
  await rm(dir, { recursive: true });
});

beforeEach(() => {
  heard.length = 0;
  behave = async () => '0x1';
});

test('answers reads and signed transactions, with the id and parameters of the call', async () => {
  for (const id of [7, 'seven', 0, '']) {
    const params = ['0x1', 'latest'];
    const answer = await ask(gateway, { jsonrpc: '2.0', id, method: 'eth_getCode', params });
    assert.deepEqual([answer.status, answer.json], [200, { jsonrpc: '2.0', id, result: '0x1' }]);
    assert.deepEqual(heard.pop(), { method: 'eth_getCode', params });
    assert.equal(answer.headers.get('access-control-allow-origin'), null);
  }
  await ask(gateway, call('eth_sendRawTransaction', [`0x${'ab'.repeat(128 * 1024)}`]));
  assert.equal(heard.pop()?.method, 'eth_sendRawTransaction');
  for (const params of [undefined, null, []]) {
    await ask(gateway, { ...call('eth_chainId'), params });
    assert.deepEqual(heard.pop(), { method: 'eth_chainId', params: [] });
  }
  behave = async () => null;
  assert.equal((await ask(gateway, call('eth_getBlockByNumber'))).json.result, null);
});

test('answers nothing that changes the chain outside of a block, signs, or keeps state', async () => {
  const methods = [
    ...['anvil_setBalance', 'evm_mine', 'hardhat_reset', 'debug_traceCall', 'trace_block', 'txpool_content'],
    ...['eth_sendTransaction', 'eth_sendUnsignedTransaction', 'eth_sign', 'eth_signTypedData_v4'],
    ...[
      'eth_newFilter',
      'eth_subscribe',
      'eth_simulateV1',
      'eth_neverHeardOf',
      'ETH_CHAINID',
      'eth_chainId ',
      'wallet_x',
      '',
    ],
    ...['__proto__', 'constructor', 'x'.repeat(100_000)],
  ];
  for (const method of methods) {
    const { json, text } = await ask(gateway, call(method));
    assert.deepEqual([json.id, json.error.code], [1, -32601], method);
    assert.match(json.error.message, /is rebuilt from its journal and must not be changed from outside/);
    assert.ok(text.length < 500);
  }
  assert.deepEqual(heard, []);
});

test('answers the calls of a batch one by one, in order', async () => {
  const calls = ['eth_chainId', 'anvil_mine', 'eth_blockNumber'].map((method, id) => ({
    ...call(method),
    id,
  }));
  const { json } = await ask(gateway, [...calls, 5, null, { ...call('net_version'), id: 'last' }]);
  assert.deepEqual(
    json.map(({ id, result, error }: Answer) => [id, result ?? error?.code]),
    [
      [0, '0x1'],
      [1, -32601],
      [2, '0x1'],
      [null, -32600],
      [null, -32600],
      ['last', '0x1'],
    ],
  );
  assert.deepEqual(
    heard.map(({ method }) => method),
    ['eth_chainId', 'eth_blockNumber', 'net_version'],
  );
});

test('refuses a malformed call with a reason, and does not ask the chain', async () => {
  const good = call('eth_chainId');
  const cases: [unknown, number, number][] = [
    ['{"jsonrpc"', 400, -32700],
    ['', 400, -32700],
    [[], 400, -32600],
    [Array(101).fill(good), 400, -32600],
    ['7', 200, -32600],
    ['null', 200, -32600],
    [{ ...good, jsonrpc: '1.0' }, 200, -32600],
    [{ ...good, id: null }, 200, -32600],
    [{ ...good, id: 1.5 }, 200, -32600],
    [{ ...good, id: {} }, 200, -32600],
    [{ ...good, method: ['eth_chainId'] }, 200, -32600],
    [{ ...good, params: { block: 'latest' } }, 200, -32602],
    [{ ...good, params: 'latest' }, 200, -32602],
    [{ ...good, params: 0 }, 200, -32602],
    [`"${'x'.repeat(1024 * 1024)}"`, 413, -32600],
  ];
  for (const [body, status, code] of cases) {
    const answer = await ask(gateway, body);
    assert.deepEqual([answer.status, answer.json.error.code], [status, code], answer.text);
  }
  assert.equal((await ask(gateway, good, { 'content-type': 'text/plain' })).status, 415);
  assert.equal((await ask(gateway, good, { 'content-type': 'application/json; charset=utf-8' })).status, 200);
  assert.equal((await fetch(gateway.url)).status, 405);
  const preflight = await fetch(gateway.url, { method: 'OPTIONS', headers: { origin: 'https://a.example' } });
  assert.deepEqual([preflight.status, preflight.headers.get('access-control-allow-origin')], [405, null]);
  assert.equal(heard.length, 1);
});

test('refuses a web page whose host name resolves to this machine', async () => {
  const statuses = ['a.example', 'a.example:80', '127.0.0.1.a.example', 'localhost'].map(
    (host) =>
      new Promise((resolve, reject) => {
        const headers = { host, 'content-type': 'application/json' };
        const asked = request(gateway.url, { method: 'POST', headers }, ({ statusCode }) =>
          resolve(statusCode),
        );
        asked.on('error', reject).end(JSON.stringify(call('eth_chainId')));
      }),
  );
  assert.deepEqual(await Promise.all(statuses), [403, 403, 403, 200]);
});

test('reports the faults of the chain with their code and data', async () => {
  const cases: [Error, object][] = [
    [
      new RpcFault('refused', 'execution reverted', { code: 3, data: '0xab' }),
      { code: 3, message: 'execution reverted', data: '0xab' },
    ],
    [
      new RpcFault('refused', 'nonce too low: next nonce 2, got 1', { code: -32003 }),
      { code: -32003, message: 'nonce too low: next nonce 2, got 1' },
    ],
    [new RpcFault('unreachable', 'is being repaired'), { code: -32002, message: 'is being repaired' }],
    // Nobody outside learns what a bug or the database said.
    [new TypeError('secret'), { code: -32603, message: 'internal error of the embedded chain' }],
  ];
  for (const [error, expected] of cases) {
    behave = async () => {
      throw error;
    };
    assert.deepEqual((await ask(gateway, call('eth_call'))).json.error, expected);
    behave = () => {
      throw error;
    };
    assert.deepEqual((await ask(gateway, call('eth_call'))).json.error, expected);
  }
});

test('reports a chain that is not ready or slow, while other calls go on', async (t) => {
  behave = () => null;
  const { json } = await ask(gateway, [call('eth_chainId'), call('eth_sendTransaction')]);
  assert.deepEqual(
    json.map(({ error }: Answer) => error?.code),
    [-32002, -32601],
  );
  assert.match(json[0].error.message, /is being rebuilt from its journal/);

  const hurried = await open('hurried.json', { deadlineMs: 100 });
  t.after(() => hurried.close());
  behave = () => new Promise(() => {});
  const late = await ask(hurried, [call('eth_chainId'), call('eth_chainId')]);
  assert.match(late.json[0].error.message, /did not answer within 100 ms/);
  assert.deepEqual(
    [late.json[1].error.code, heard.filter(({ method }) => method === 'eth_chainId').length],
    [-32002, 2],
  );
});

test('asks the chain for eight answers at once, while other calls wait', async (t) => {
  let finish = (_value: unknown) => {};
  const finished = new Promise((resolve) => {
    finish = resolve;
  });
  let running = 0;
  let most = 0;
  behave = async () => {
    running += 1;
    most = Math.max(most, running);
    await finished;
    running -= 1;
    return '0x1';
  };
  const arrived = arrivals(t);
  const asked = Array.from({ length: 20 }, () => ask(gateway, call('eth_chainId')));
  await waitUntil(() => arrived.length === 20);
  // What came before has been read when this is answered, without a turn.
  assert.equal((await fetch(gateway.url)).status, 405);
  assert.deepEqual([heard.length, running], [8, 8]);
  finish(null);
  const answers = await Promise.all(asked);
  assert.ok(answers.every(({ json }) => json.result === '0x1'));
  assert.deepEqual([most, heard.length, running], [8, 20, 0]);
});

test('returns answers of any size, and drops one that the client does not read', async (t) => {
  const large = `0x${'ab'.repeat(16 * 1024 * 1024)}`;
  behave = async () => large;
  assert.equal(
    (await ask(gateway, call('eth_getLogs'))).text,
    `{"jsonrpc":"2.0","id":1,"result":"${large}"}`,
  );

  // Enough to reach the chain: the deadline is meant to expire while the client reads.
  const hurried = await open('unread.json', { deadlineMs: 1_000 });
  t.after(() => hurried.close());
  heard.length = 0;
  const arrived = arrivals(t);
  const socket = connect(Number(new URL(hurried.url).port), '127.0.0.1').pause();
  const body = JSON.stringify([call('eth_getLogs'), call('eth_chainId')]);
  socket.write(
    `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  const served = await waitUntil(() => arrived[0]);
  // The gateway hangs up, although nothing more happens on this side.
  await waitUntil(() => served.closed);
  const ended = new Promise((resolve) => socket.once('close', resolve).once('error', resolve));
  socket.resume();
  await ended;
  assert.ok(socket.bytesRead < large.length, `${socket.bytesRead} bytes came`);
  // The second call was not even asked while the first answer was unread.
  assert.deepEqual(
    heard.map(({ method }) => method),
    ['eth_getLogs'],
  );
});

test('a gateway is found by its own answer, and keeps its port unless another process took it', async (t) => {
  assert.equal(await findGateway(paths), gateway.url);
  const own = { gatewayFile: join(dir, 'own.json') };
  assert.equal(await findGateway(own), null);
  const openOwn = () => open('own.json');
  const first = await openOwn();
  await first.close();
  assert.equal(await findGateway(own), null);
  await assert.rejects(ask(first, call('eth_chainId')));
  const second = await openOwn();
  assert.equal(second.url, first.url);
  assert.equal(await findGateway(own), second.url);
  assert.equal(((await readFile(own.gatewayFile)).toString().match(/name/g) ?? []).length, 1);
  await second.close();

  // After a kill any process may hold the port, such as a node.
  const foreign = createServer((_, response) => response.end('{}'));
  t.after(() => foreign.close());
  await new Promise<void>((resolve) => foreign.listen(Number(new URL(first.url).port), '127.0.0.1', resolve));
  assert.equal(await findGateway(own), null);
  const third = await openOwn();
  t.after(() => third.close());
  assert.notEqual(third.url, first.url);
  assert.equal(await findGateway(own), third.url);
});

/** The gateway's ends of the connections with each request from now on. */
function arrivals(t: TestContext): Socket[] {
  const sockets: Socket[] = [];
  const starts = channel('http.server.request.start');
  const note = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
  starts.subscribe(note);
  t.after(() => starts.unsubscribe(note));
  return sockets;
}

function open(file: string, options: { deadlineMs?: number } = {}): Promise<Gateway> {
  return openGateway({
    paths: { gatewayFile: join(dir, file) },
    answer(method, params) {
      heard.push({ method, params });
      return behave(method);
    },
    ...options,
  });
}

interface Answer {
  id: unknown;
  result?: unknown;
  error?: { code: number; message: string };
}

function call(method: string, params: unknown[] = []) {
  return { jsonrpc: '2.0', id: 1, method, params };
}

async function ask({ url }: Gateway, body: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, json: JSON.parse(text) };
}
