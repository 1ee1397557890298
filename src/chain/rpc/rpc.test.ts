/** The chain over several RPC addresses: which failures move on to the next, which are thrown, what is never trusted. */
import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Hex } from 'viem';
import { waitUntil } from '../../../test/support/service/process.ts';
import { OperatorError } from '../../runtime/errors.ts';
import { isRetryable, rpcFaultOf } from './json-rpc.ts';
import { createChainRpc, discoverChain } from './rpc.ts';

const genesisHash: Hex = `0x${'ab'.repeat(32)}`;
const identity = { chainId: 4711, genesisHash };
/** For calls that do get an answer: no machine is this slow. */
const patientMs = 600_000;

type Reply = (method: string, response: ServerResponse, id: number) => unknown;

interface FakeNode {
  url: string;
  asked: string[];
  results: Record<string, unknown>;
  /** Replaces the good answer from now on. */
  reply: Reply | null;
}

test('skips an address that fails, and asks it last for a while', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const first = await fakeNode(t);
  const second = await fakeNode(t, { head: '0x7' });
  const { client } = chainOver(t, [first, second]);
  assert.equal(await client.getBlockNumber(), 5n);
  assert.deepEqual(second.asked, []);

  first.reply = (_method, response) => response.writeHead(502).end('<html>Bad Gateway</html>');
  assert.equal(await client.getBlockNumber(), 7n);
  const askedBefore = first.asked.length;
  first.reply = null;
  now += 4_999;
  assert.equal(await client.getBlockNumber(), 7n);
  assert.equal(first.asked.length, askedBefore);
  now += 1;
  assert.equal(await client.getBlockNumber(), 5n);
});

test('any failure of the only address is retryable, and its message omits the key in the URL', async (t) => {
  const node = await fakeNode(t);
  const replies: Record<string, Reply> = {
    'a gateway page': (_method, response) => response.writeHead(502).end('<html>Bad Gateway</html>'),
    'too many requests': (_method, response) => response.writeHead(429).end(),
    'a limit told in JSON': (_method, response, id) =>
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32005, message: 'limit' } })),
    'an internal error': (_method, response, id) =>
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message: 'oops' } })),
    'truncated JSON': (_method, response, id) => response.end(`{"jsonrpc":"2.0","id":${id},"resu`),
    'an empty object': (_method, response) => response.end('{}'),
    nothing: (_method, response) => response.end(),
    'the answer to another call': (_method, response) => response.end('{"id":0,"result":"0x1"}'),
    'a broken connection': (_method, response) => response.destroy(),
    silence: () => {},
    'a body that never ends': (_method, response) => response.write('{"jsonrpc":'),
  };
  const withoutEnd = ['silence', 'a body that never ends'];
  for (const [name, reply] of Object.entries(replies)) {
    const timeoutMs = withoutEnd.includes(name) ? 300 : patientMs;
    const { client } = chainOver(t, [node], { path: '/v3/secret-key', timeoutMs });
    node.reply = null;
    await waitUntil(() => client.getBlockNumber().catch(() => null));
    node.reply = reply;
    await assert.rejects(
      client.getTransactionReceipt({ hash: genesisHash }),
      (error: Error) => {
        assert.ok(isRetryable(error), `${name}: ${error}`);
        assert.doesNotMatch(`${error.stack} ${error.cause}`, /secret-key/);
        return true;
      },
      name,
    );
  }
});

const refusing =
  (error: object): Reply =>
  (_method, response, id) =>
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));

test('reports a refusal by a contract at once, but asks the next chain node for missing state', async (t) => {
  const first = await fakeNode(t);
  const second = await fakeNode(t, { head: '0x7' });
  const { client } = chainOver(t, [first, second]);
  await client.getBlockNumber();
  first.reply = refusing({ code: 3, message: 'execution reverted', data: '0x' });
  await assert.rejects(client.request({ method: 'eth_call', params: [{}] }), (error) => {
    assert.equal(rpcFaultOf(error)?.kind, 'refused');
    assert.equal(rpcFaultOf(error)?.code, 3);
    assert.equal(isRetryable(error), false);
    return true;
  });
  assert.deepEqual(second.asked, []);

  first.reply = refusing({ code: -32000, message: 'missing trie node' });
  assert.equal(await client.getBlockNumber(), 7n);
  second.reply = refusing({ code: -32000, message: 'header not found' });
  await assert.rejects(client.getBlockNumber(), (error) => {
    assert.match(rpcFaultOf(error)?.message ?? '', /missing trie node/);
    return rpcFaultOf(error)?.kind === 'refused';
  });
});

test('sends a transaction to every address; one acceptance is enough, and refusal outweighs silence', async (t) => {
  const first = await fakeNode(t);
  const second = await fakeNode(t);
  const { client } = chainOver(t, [first, second]);
  const send = () => client.sendRawTransaction({ serializedTransaction: '0x02' });
  second.results.eth_sendRawTransaction = genesisHash;
  first.results.eth_sendRawTransaction = genesisHash;
  await send();
  const given = (node: FakeNode) => node.asked.includes('eth_sendRawTransaction');
  await waitUntil(() => given(first) && given(second));

  first.reply = refusing({ code: -32000, message: 'intrinsic gas too low' });
  assert.equal(await send(), genesisHash);
  second.reply = (_method, response) => response.destroy();
  await assert.rejects(send(), (error) => /intrinsic gas/.test(rpcFaultOf(error)?.message ?? ''));
  first.reply = (_method, response) => response.destroy();
  await assert.rejects(send(), isRetryable);
});

test('does not trust a first chain node that is stuck, but prefers the one with the highest head', async (t) => {
  const stuck = await fakeNode(t, { head: '0x5' });
  const good = await fakeNode(t, { head: '0x64' });
  const { client, head, doubt } = chainOver(t, [stuck, good]);
  assert.equal((await head()).number, 100);
  assert.equal(await client.getBlockNumber(), 100n);

  // Its blocks turn out to contradict the known ones.
  doubt();
  assert.equal((await head()).number, 5);
  assert.equal(await client.getBlockNumber(), 5n);

  // A lag of a block or two is normal and does not change the order.
  const [near, far] = [await fakeNode(t, { head: '0x63' }), await fakeNode(t, { head: '0x64' })];
  const usual = chainOver(t, [near, far]);
  assert.equal((await usual.head()).number, 100);
  assert.equal(await usual.client.getBlockNumber(), 99n);

  // A failing node does not prevent an answer, and is used again once it is back.
  far.reply = (_method, response) => response.destroy();
  assert.equal((await usual.head()).number, 99);
  far.reply = null;
  near.reply = (_method, response) => response.destroy();
  assert.equal((await usual.head()).number, 100);
  far.reply = near.reply;
  await assert.rejects(usual.head(), isRetryable);
});

test('refuses another chain by id or genesis, even if it replaces the right one', async (t) => {
  const otherId = await fakeNode(t, { chainId: '0x1' });
  const otherGenesis = await fakeNode(t, { genesis: `0x${'cd'.repeat(32)}` });
  const right = await fakeNode(t);
  const { client } = chainOver(t, [otherId, otherGenesis, right]);
  assert.equal(await client.getBlockNumber(), 5n);
  assert.ok(![...otherId.asked, ...otherGenesis.asked].includes('eth_blockNumber'));

  for (const wrong of [otherId, otherGenesis]) {
    await assert.rejects(chainOver(t, [wrong]).client.getBlockNumber(), (error) => {
      assert.equal(rpcFaultOf(error)?.kind, 'wrong_chain');
      assert.equal(isRetryable(error), false);
      return true;
    });
  }
  // An unreachable node may come back, but not as another chain.
  right.reply = (_method, response) => response.destroy();
  await assert.rejects(client.getBlockNumber(), isRetryable);
  right.reply = null;
  right.results.eth_chainId = '0x1';
  await assert.rejects(client.getBlockNumber(), (error) => rpcFaultOf(error)?.kind === 'wrong_chain');
});

test('health reports every address, by host only', async (t) => {
  const good = await fakeNode(t);
  const wrong = await fakeNode(t, { chainId: '0x1' });
  const health = await chainOver(t, [good, wrong], { path: '/v3/secret-key' }).health();
  assert.deepEqual(
    health.map(({ ok, headNumber }) => ({ ok, headNumber })),
    [
      { ok: true, headNumber: 5 },
      { ok: false, headNumber: null },
    ],
  );
  assert.match(health[1]?.error ?? '', /is chain 1 with genesis 0xabab.*not chain 4711/);
  assert.doesNotMatch(JSON.stringify(health), /secret-key/);
});

test('discovers the chain if the addresses agree, and refuses it if they do not', async (t) => {
  const one = await fakeNode(t);
  const two = await fakeNode(t);
  const other = await fakeNode(t, { chainId: '0x1' });
  const away = await fakeNode(t);
  away.reply = (_method, response) => response.destroy();
  assert.deepEqual(await discoverChain([one.url, away.url, two.url]), identity);
  await assert.rejects(discoverChain([one.url, other.url]), OperatorError);
  await assert.rejects(discoverChain([away.url]), isRetryable);
});

function chainOver(t: TestContext, nodes: FakeNode[], { path = '', timeoutMs = patientMs } = {}) {
  const rpc = createChainRpc({ ...identity, urls: () => nodes.map(({ url }) => url + path), timeoutMs });
  t.after(() => rpc.close());
  return rpc;
}

async function fakeNode(
  t: TestContext,
  { chainId = '0x1267', genesis = genesisHash, head = '0x5' } = {},
): Promise<FakeNode> {
  const results = {
    eth_chainId: chainId,
    eth_getBlockByNumber: { hash: genesis, number: head },
    eth_blockNumber: head,
  };
  const server: Server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { id, method }: { id: number; method: string } = JSON.parse(text);
    node.asked.push(method);
    if (node.reply) node.reply(method, response, id);
    else response.end(JSON.stringify({ jsonrpc: '2.0', id, result: node.results[method] ?? null }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const node: FakeNode = { url: `http://127.0.0.1:${port}`, asked: [], results, reply: null };
  return node;
}
