/** The numbers of seals over several lives of one database: an archive, what was lost after it, and two restores of it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  backUp,
  closeBackupFixture,
  config,
  database,
  dir,
  keyring,
  openBackupFixture,
  restoreInto,
  workspaceId,
} from '../../test/support/fixtures/backup-fixture.ts';
import { leadOf, storingSender } from '../../test/support/fixtures/batcher-fixture.ts';
import { waitUntil } from '../../test/support/service/process.ts';
import { createBatchThread } from '../anchoring/batching/batch-thread.ts';
import { createBatcher } from '../anchoring/batching/batcher.ts';
import { batchesPass } from '../anchoring/batching/batches.check.ts';
import { firstLeaf, pendingLeaf } from '../anchoring/batching/pending.ts';
import type { MasterKeySource } from '../config/data-settings.ts';
import { type Db, openDatabase } from '../db/database.ts';
import { insertAll } from '../db/writes.ts';
import { openKeyring } from '../keys/keyring.ts';
import { runEach } from '../runtime/check.ts';

const vaultIds = ['vlt_1', 'vlt_2'];
const thread = createBatchThread();
before(async () => {
  await openBackupFixture();
  const at = { created_at: new Date(), updated_at: new Date() };
  for (const id of vaultIds) {
    const { address, write } = await keyring.newSigningKey({ workspaceId, id });
    const row = { workspace_id: workspaceId, id, name: id, description: '', address, ...at };
    await insertAll(database.db, [write, { table: 'vaults', row }]);
  }
});
after(async () => {
  await thread.close();
  await closeBackupFixture();
});

interface Seal {
  vault: string;
  sequence: string;
  id: string;
  previous: string;
}

/** Has each vault seal a new record, several times; returns all seals that the database has, by number. */
async function seal(db: Db, source: MasterKeySource, times: number): Promise<Seal[]> {
  const keyring = await openKeyring({ db, source });
  try {
    const vaults = await db.selectFrom('vaults').select(['id', 'address']).orderBy('id').execute();
    const senderWakeup = { wake() {} };
    const log = { error: (details: object) => assert.fail(JSON.stringify(details)) };
    const batcher = createBatcher({ db, keyring, thread, sender: storingSender, senderWakeup, log });
    for (let round = 0; round < times; round += 1) {
      for (const vault of vaults) {
        const { write } = pendingLeaf({
          ...{
            workspaceId,
            kind: 'record',
            subjectId: `rec_${randomBytes(8).toString('hex')}`,
            version: 1,
            vault,
          },
          ...{ digest: randomBytes(32), canonicalization: 'raw', previousLeaf: firstLeaf, claims: {} },
        });
        await insertAll(db, [write]);
      }
      await batcher.step(leadOf(db));
    }
  } finally {
    await keyring.close();
  }
  const rows = await db.selectFrom('anchor_subtrees').selectAll().orderBy('sequence').execute();
  return rows.map(({ vault_id, sequence, seal_id, previous_seal }) => ({
    vault: vault_id,
    sequence,
    id: seal_id.toString('hex'),
    previous: previous_seal.toString('hex'),
  }));
}

/** Restores the archive into a new database, and seals there. */
async function live(name: string, file: string): Promise<Seal[]> {
  const target = await restoreInto(name, file);
  await target.restore();
  const restored = openDatabase({ connection: () => ({ connectionString: target.url }), onError() {} });
  try {
    const seals = await seal(restored.db, target.config.masterKey, 2);
    const check = { name: 'batches', passes: [batchesPass(restored.db)] };
    const [report] = await runEach([check], { settleMs: 0 });
    assert.deepEqual(report?.findings, [], 'numbers that were skipped are no fault');
    assert.ok(report && report.checked > 0);
    return seals;
  } finally {
    await restored.close();
  }
}

test('no number is used twice, however often the same archive is restored', async () => {
  const file = join(dir, 'sealed.tar');
  const kept = await seal(database.db, config.masterKey, 2);
  await backUp(file);
  const lives = [await seal(database.db, config.masterKey, 2), await live('second-life', file)];
  const secondLife = lives[1]?.at(-1)?.sequence ?? '0';
  // The epoch is a second. A restore takes longer, with all that belongs to it; but this one may not have.
  await waitUntil(() => Date.now() / 1000 > Number(BigInt(secondLife) >> 32n) + 1);
  lives.push(await live('third-life', file));

  for (const vault of vaultIds) {
    const own = lives.map((seals) => seals.filter((one) => one.vault === vault));
    const before = kept.filter((one) => one.vault === vault);
    const later = own.flatMap((seals) => {
      assert.deepEqual(seals.slice(0, 2), before, 'every life begins with what the archive has');
      assert.equal(seals.length, 4);
      for (const [place, { previous }] of seals.entries()) {
        assert.equal(previous, seals[place - 1]?.id ?? '00'.repeat(32));
      }
      return seals.slice(2);
    });
    const numbers = [...before, ...later].map(({ sequence }) => sequence);
    assert.equal(new Set(numbers).size, 2 + 6, numbers.join());
    assert.equal(
      new Set(later.map(({ sequence }) => BigInt(sequence) >> 32n)).size,
      3,
      'an epoch for each life',
    );
  }
});
