/** A backup holds the results and the state of the embedded chain, as of one block. */
// tier: process
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Hex } from 'viem';
import {
  backUp,
  closeBackupFixture,
  database,
  dir,
  openBackupFixture,
  restoreInto,
} from '../../test/support/fixtures/backup-fixture.ts';
import { withClient } from '../../test/support/service/database.ts';
import type { BlockResult } from '../chain/embedded/engine/protocol.ts';
import { createJournal } from '../chain/embedded/journal.ts';
import { keptStates } from '../chain/embedded/results/results.store.ts';

before(openBackupFixture);
after(closeBackupFixture);

const nodesPerBlock = 50;
const hex = (bytes: Buffer): Hex => `0x${bytes.toString('hex')}`;

/** A made-up block that replaces all nodes of the one before. */
function blockAfter(parent: BlockResult | null): BlockResult {
  const raw = randomBytes(120);
  const from = hex(randomBytes(20));
  return {
    number: parent ? parent.number + 1 : 0,
    hash: hex(randomBytes(32)),
    parentHash: parent?.hash ?? `0x${'00'.repeat(32)}`,
    timestampSeconds: 1_800_000_000 + (parent ? parent.number + 1 : 0),
    gasUsed: 21_000,
    baseFeeWei: 10n ** 30n,
    stateRoot: hex(randomBytes(32)),
    transactionsRoot: hex(randomBytes(32)),
    receiptsRoot: hex(randomBytes(32)),
    transactions: parent
      ? [
          {
            hash: hex(randomBytes(32)),
            raw: hex(raw),
            receipt: { from, succeeded: true, gasUsed: 21_000, logs: [] },
          },
        ]
      : [],
    changes: {
      added: Array.from({ length: nodesPerBlock }, () => [randomBytes(39), randomBytes(532)]),
      replaced: parent?.changes.added.map(([key]) => key) ?? [],
    },
  };
}

const tables = ['blocks', 'results', 'transactions', 'nodes', 'replaced'].map(
  (name) => `embedded_chain_${name}`,
);

/** A digest of all rows of a table. */
function digestOf(url: string, table: string, upTo: number): Promise<string> {
  const number = table.endsWith('_nodes') ? 'since' : 'number';
  return withClient({ connectionString: url }, async (client) => {
    const { rows } = await client.query(
      `select count(*) || ' ' || md5(string_agg(md5(t::text), '' order by md5(t::text))) as digest
       from ${table} t where ${number} <= $1`,
      [upTo],
    );
    return rows[0].digest;
  });
}

test('all four tables come back, with the state of exactly the blocks that the backup has', async () => {
  const journal = createJournal(database.db, (work) => database.db.transaction().execute(work));
  const first = blockAfter(null);
  await journal.begin({ ...first, transactions: [] }, 'test', first);
  let newest = first;
  const mine = async () => {
    const block = blockAfter(newest);
    const transactions = block.transactions.map(({ raw }) => raw);
    assert.equal(await journal.append({ ...block, transactions }, block), true);
    newest = block;
  };
  for (let count = 0; count < 5; count += 1) await mine();

  let isDone = false;
  const mining = (async () => {
    while (!isDone && newest.number < keptStates - 2) await mine();
  })();
  const file = join(dir, 'chain.tar');
  await backUp(file);
  isDone = true;
  await mining;
  await mine();

  const target = await restoreInto('chain', file);
  await target.restore();
  const upTo = await withClient({ connectionString: target.url }, async (client) => {
    const { rows } = await client.query('select max(number)::int as head from embedded_chain_blocks');
    return Number(rows[0].head);
  });
  assert.ok(upTo >= 5 && upTo < newest.number, `${upTo} of ${newest.number} blocks`);
  for (const table of tables) {
    const everything = await digestOf(target.url, table, 1_000_000);
    // Nothing was deleted here yet, so it is what there was at that block.
    assert.equal(everything, await digestOf(database.url, table, upTo), table);
    assert.ok(!everything.startsWith('0 '), table);
  }
});
