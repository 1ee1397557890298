/** The figures of a workspace that depend on the chain. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import type { Chain } from '../../chain/chain.ts';
import { createStats } from './stats.ts';

const readClocks = async () => ({ authorities: [], openTimestamps: null });

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
  const asked = { open: 0, head: 0, balance: 0 };
  const chain = {
    async head() {
      asked.head += 1;
      return { number: 41 };
    },
    client: {
      async getBalance() {
        asked.balance += 1;
        return 10n ** 18n;
      },
      getBlock: async () => ({ baseFeePerGas: null }),
      getGasPrice: async () => 10n ** 9n,
    },
  } as unknown as Chain;
  const readStats = createStats({
    db: database.db,
    async openChain() {
      asked.open += 1;
      return chain;
    },
    submitter: async () => ({ address: `0x${'11'.repeat(20)}` }),
    readClocks,
  });
  const range = {
    from: new Date('2026-01-01T00:00:00Z'),
    to: new Date('2026-01-01T01:00:00Z'),
    forOperator: true,
  };
  /** One after the other except the first two, so that none waits for a connection. */
  const ask = async (tenants: string[]) => {
    const [first = '', second = '', ...others] = tenants;
    const answers = await Promise.all([readStats(first, range), readStats(second, range)]);
    for (const tenant of others) answers.push(await readStats(tenant, range));
    return answers;
  };
  const tenants = ['ws_1', 'ws_2', 'ws_3', 'ws_1'];

  const realNow = performance.now.bind(performance);
  let laterMs = 0;
  t.mock.method(performance, 'now', () => realNow() + laterMs);
  for (const { chain } of await ask(tenants)) assert.equal(chain?.headBlock, 41);
  await ask(tenants);
  assert.deepEqual(asked, { open: 1, head: 1, balance: 1 });
  laterMs = 15_000;
  await ask(tenants);
  assert.deepEqual(asked, { open: 2, head: 2, balance: 2 });
});

test('leaves out the figures of a chain that cannot be opened, and reports the rest', async () => {
  const readStats = createStats({
    db: database.db,
    openChain: () => Promise.reject(new Error('away')),
    submitter: async () => ({ address: `0x${'11'.repeat(20)}` }),
    readClocks,
  });
  const range = {
    from: new Date('2026-01-01T00:00:00Z'),
    to: new Date('2026-01-01T01:00:00Z'),
    forOperator: true,
  };
  const { chain, buckets } = await readStats('ws_1', range);
  assert.deepEqual([chain?.chainId, chain?.headBlock, buckets.length], [1, null, 60]);
});
