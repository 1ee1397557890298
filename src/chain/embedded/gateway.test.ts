/** The embedded chain's gateway, in front of a fake node that records its requests. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { type Gateway, openGateway } from './gateway.ts';
import { findGateway } from './gateway-file.ts';
import { chainPaths } from './paths.ts';

const dir = await mkdtemp(join(tmpdir(), 'holdfast-gateway-'));
const paths = { ...chainPaths(dir, 1), gatewayFile: join(dir, 'gateway.json') };
const heard: { id: unknown; method: string; params?: unknown }[] = [];
let behave: (response: ServerResponse) => void;
const node = createServer(async (asked, response) => {
  const call = JSON.parse(Buffer.concat(await asked.toArray()).toString());
  heard.push(call);
  response.setHeader('x-call', JSON.stringify(call.id));
  behave(response);
});
await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
const nodeUrl = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
let sent = 0;
const gateway = await openGateway({ paths, nodeUrl: () => nodeUrl, onTransaction: () => (sent += 1) });

after(async () => {
  await gateway.close();
  node.closeAllConnections();
  node.close();
  await rm(dir, { recursive: true });
});

beforeEach(() => {
  heard.length = 0;
  sent = 0;
  behave = (response) =>
    response.end(`{"jsonrpc":"2.0","id":${response.getHeader('x-call')},"result":"0x1"}`);
});

test('passes on reads with their id and parameters, and reports signed transactions', async () => {
  for (const id of [7, 'seven', 0, '']) {
    const answer = await ask(gateway, {
      jsonrpc: '2.0',
      id,
      method: 'eth_getCode',
      params: ['0x1', 'latest'],
    });
    assert.deepEqual([answer.status, answer.json], [200, { jsonrpc: '2.0', id, result: '0x1' }]);
    assert.deepEqual(heard.pop(), { jsonrpc: '2.0', id, method: 'eth_getCode', params: ['0x1', 'latest'] });
    assert.equal(answer.headers.get('access-control-allow-origin'), null);
  }
  assert.equal(sent, 0);
  await ask(gateway, call('eth_sendRawTransaction', [`0x${'ab'.repeat(128 * 1024)}`]));
  assert.deepEqual([heard.length, sent], [1, 1]);
});

test('passes on nothing that changes the chain node, makes it sign, or keeps state in it', async () => {
  const methods = [
    ...['anvil_setBalance', 'evm_mine', 'hardhat_reset', 'debug_traceCall', 'trace_block', 'txpool_content'],
    ...['eth_sendTransaction', 'eth_sendUnsignedTransaction', 'eth_sign', 'eth_signTypedData_v4'],
    ...['eth_newFilter', 'eth_subscribe', 'eth_neverHeardOf', 'ETH_CHAINID', 'eth_chainId ', 'wallet_x', ''],
    ...['__proto__', 'constructor', 'x'.repeat(100_000)],
  ];
  for (const method of methods) {
    const { json, text } = await ask(gateway, call(method));
    assert.deepEqual([json.id, json.error.code], [1, -32601], method);
    assert.match(json.error.message, /is rebuilt from its journal and must not be changed from outside/);
    assert.ok(text.length < 500);
  }
  assert.deepEqual(heard, []);
  // The node might use the other one of the two methods.
  await ask(
    gateway,
    '{"jsonrpc":"2.0","id":1,"method":"anvil_reset","method":"eth_chainId","Method":"evm_mine"}',
  );
  assert.deepEqual(heard, [{ jsonrpc: '2.0', id: 1, method: 'eth_chainId' }]);
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

test('refuses a malformed call with a reason, and does not pass it on', async () => {
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

test('reports a chain node that is unreachable, slow or breaks off, while other calls go on', async (t) => {
  behave = (response) => response.destroy();
  const { json } = await ask(gateway, [call('eth_chainId'), call('eth_sendTransaction')]);
  assert.deepEqual(
    json.map(({ error }: Answer) => error?.code),
    [-32002, -32601],
  );
  behave = (response) => response.writeHead(500).end('<html>');
  assert.match((await ask(gateway, call('eth_chainId'))).json.error.message, /HTTP status 500/);
  behave = (response) => {
    response.write('{"jsonrpc":"2.0","id":1,"result":"0x');
    setImmediate(() => response.destroy());
  };
  await assert.rejects(ask(gateway, call('eth_chainId')));

  const hurried = await openGateway({
    paths: { gatewayFile: join(dir, 'hurried.json') },
    nodeUrl: () => nodeUrl,
    deadlineMs: 100,
  });
  t.after(() => hurried.close());
  behave = () => {};
  assert.match((await ask(hurried, call('eth_chainId'))).json.error.message, /did not answer within 100 ms/);
});

test('passes on answers of any size, and drops one that the client does not read', async (t) => {
  const large = `{"jsonrpc":"2.0","id":1,"result":"0x${'ab'.repeat(16 * 1024 * 1024)}"}`;
  behave = (response) => response.end(large);
  assert.equal((await ask(gateway, call('eth_getLogs'))).text, large);

  const hurried = await openGateway({
    paths: { gatewayFile: join(dir, 'unread.json') },
    nodeUrl: () => nodeUrl,
    // Enough to reach the node: the deadline is meant to expire while the client reads.
    deadlineMs: 1_000,
  });
  t.after(() => hurried.close());
  const socket = connect(Number(new URL(hurried.url).port), '127.0.0.1').pause();
  const body = JSON.stringify(call('eth_getLogs'));
  socket.write(
    `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  const gone = new Promise<void>((resolve) =>
    node.once('request', (_, response) => response.once('close', resolve)),
  );
  await gone;
  socket.destroy();
});

test('a gateway is found by its own answer, and keeps its port unless another process took it', async (t) => {
  assert.equal(await findGateway(paths), gateway.url);
  const own = { gatewayFile: join(dir, 'own.json') };
  assert.equal(await findGateway(own), null);
  const open = () => openGateway({ paths: own, nodeUrl: () => nodeUrl });
  const first = await open();
  await first.close();
  assert.equal(await findGateway(own), null);
  await assert.rejects(ask(first, call('eth_chainId')));
  const second = await open();
  assert.equal(second.url, first.url);
  assert.equal(await findGateway(own), second.url);
  assert.equal(((await readFile(own.gatewayFile)).toString().match(/name/g) ?? []).length, 1);
  await second.close();

  // After a kill any process may hold the port, such as a node.
  const foreign = createServer((_, response) => response.end('{}'));
  t.after(() => foreign.close());
  await new Promise<void>((resolve) => foreign.listen(Number(new URL(first.url).port), '127.0.0.1', resolve));
  assert.equal(await findGateway(own), null);
  const third = await open();
  t.after(() => third.close());
  assert.notEqual(third.url, first.url);
  assert.equal(await findGateway(own), third.url);
});

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
