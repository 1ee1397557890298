/** The check of vault transactions: a missing one is found on a real chain. */
// tier: process
import assert from 'node:assert/strict';
import type { PublicClient } from 'viem';
import {
  follow,
  insertVault,
  leadOn,
  startTestChain,
  strangerAddress,
  testIndexer,
} from '../../../test/support/fixtures/indexed-chain-fixture.ts';
import { needs } from '../../../test/support/programs/needs.ts';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { runEach } from '../../runtime/check.ts';
import { vaultTransactionsCheck } from './vault-transactions.check.ts';

needs('anvil').test(
  'finds a missing transaction by the nonce of its sender and the balance of its receiver',
  async () => {
    const node = await startTestChain();
    const database = await openTestDatabase();
    try {
      const { db } = database;
      const client = node.anvil.client as unknown as PublicClient;
      const check = (embedded = true) => vaultTransactionsCheck({ db, client, embedded });
      const look = async (embedded = true) => {
        const [report] = await runEach([check(embedded)], { settleMs: 0 });
        assert.ok(report);
        return report;
      };
      const [one] = node.anvil.accounts;
      const sender = await insertVault(db, one.address);
      const receiver = await insertVault(db, strangerAddress(7));
      assert.match((await look()).skipped[0]?.reason ?? '', /no block is indexed/);

      await node.send(0, { to: strangerAddress(7), value: 5n });
      await node.mine();
      await node.send(0, { to: strangerAddress(7), value: 6n });
      await node.mine(2);
      await follow(testIndexer({ db }), leadOn(db, await node.chain()));
      const right = await look();
      assert.deepEqual([right.checked, right.findings, right.skipped], [2, [], []]);

      const rulesOf = ({ findings }: Awaited<ReturnType<typeof look>>) =>
        findings.map(({ rule, ids }) => `${rule} ${ids.vaultId}`);
      await db.deleteFrom('vault_transactions').where('value_wei', '=', '6').execute();
      assert.deepEqual(rulesOf(await look()), [
        `every-sent-transaction ${sender.vaultId}`,
        `every-received-amount ${receiver.vaultId}`,
      ]);
      // On other chains a contract may have paid the rest.
      assert.deepEqual(rulesOf(await look(false)), [`every-sent-transaction ${sender.vaultId}`]);
      await db.updateTable('vault_transactions').set({ value_wei: '100' }).execute();
      assert.deepEqual(rulesOf(await look(false)), [
        `every-sent-transaction ${sender.vaultId}`,
        `every-received-amount ${receiver.vaultId}`,
      ]);

      await node.reorg(1);
      assert.match((await look()).skipped[0]?.reason ?? '', /not on the branch/);
    } finally {
      await database.close();
      await node.anvil.stop();
    }
  },
);
