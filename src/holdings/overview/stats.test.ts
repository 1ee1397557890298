/** The figures of a workspace that depend on the chain. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { numberToHex } from 'viem';
import { startRpcProxy } from '../../../test/support/chain/rpc-proxy.ts';
import { openFixture, owner, transfer } from '../../../test/support/fixtures/embedded-chain-fixture.ts';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import type { Chain } from '../../chain/chain.ts';
import { createChainRpc } from '../../chain/rpc/rpc.ts';
import { createStats } from './stats.ts';

const readClocks = async () => ({ authorities: [], openTimestamps: null });
const submitter = async () => ({ address: owner.address });
const range = {
  from: new Date('2026-01-01T00:00:00Z'),
  to: new Date('2026-01-01T01:00:00Z'),
  forOperator: true,
};

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase();
  await database.pool.query(
    `insert into chain (chain_id, genesis_hash, embedded, registry, submitter)
     values (1, sha256('genesis'), false, substring(sha256('r') for 20), substring(sha256('s') for 20))`,
  );
});
after(() => database.close());

test('asks the chain node only once in 15 seconds, however many ask for the overview', async (t) => {
  const node = await (await openFixture(t)).start();
  for (const nonce of [0, 1]) await node.mine(await transfer(node.chainId, nonce));
  const proxy = await startRpcProxy(() => node.gatewayUrl);
  const { chainId, genesisHash } = node;
  const { client, head, doubt, close } = createChainRpc({ chainId, genesisHash, urls: () => [proxy.url] });
  t.after(async () => {
    await close();
    await proxy.close();
  });
  const chain: Chain = {
    ...{ chainId, genesisHash, client, head, doubt },
    embedded: false,
    registry: owner.address,
    confirmations: 1,
    finalizedNumber: async () => -1,
    wake() {},
  };
  let opened = 0;
  const readStats = createStats({
    db: database.db,
    async openChain() {
      opened += 1;
      return chain;
    },
    submitter,
    readClocks,
  });
  /** One after the other except the first two, so that none waits for a connection. */
  const ask = async (tenants: string[]) => {
    const [first = '', second = '', ...others] = tenants;
    const answers = await Promise.all([readStats(first, range), readStats(second, range)]);
    for (const tenant of others) answers.push(await readStats(tenant, range));
    return answers.map(({ chain }) => [chain?.headBlock, chain?.balanceWei, chain?.anchorsLeft]);
  };
  const tenants = ['ws_1', 'ws_2', 'ws_3', 'ws_1'];
  const balanceCalls = () => proxy.calls.filter(({ method }) => method === 'eth_getBalance').length;
  /** As the node itself says, without the service's own client. */
  const figures = async () => {
    const block = numberToHex(node.head().number);
    const balance = BigInt((await node.call('eth_getBalance', [owner.address, block])) as string);
    const perGas = BigInt((await node.call('eth_gasPrice', [])) as string);
    return [node.head().number, String(balance), Number(balance / (46_500n * perGas))];
  };

  const realNow = performance.now.bind(performance);
  let laterMs = 0;
  t.mock.method(performance, 'now', () => realNow() + laterMs);
  const then = await figures();
  assert.deepEqual(then[0], 2);
  assert.deepEqual(await ask(tenants), Array(4).fill(then));
  const asked = proxy.calls.length;
  assert.deepEqual([opened, balanceCalls()], [1, 1]);
  await node.mine(await transfer(chainId, 2));
  assert.deepEqual(await ask(tenants), Array(4).fill(then));
  assert.deepEqual([opened, proxy.calls.length], [1, asked]);
  laterMs = 15_000;
  const now = await figures();
  assert.equal(now[0], 3);
  assert.deepEqual(await ask(tenants), Array(4).fill(now));
  assert.deepEqual([opened, balanceCalls()], [2, 2]);
});

test('leaves out the figures of a chain that cannot be opened, and reports the rest', async () => {
  const readStats = createStats({
    db: database.db,
    openChain: () => Promise.reject(new Error('away')),
    submitter,
    readClocks,
  });
  const { chain, buckets } = await readStats('ws_1', range);
  assert.deepEqual([chain?.chainId, chain?.headBlock, buckets.length], [1, null, 60]);
});
