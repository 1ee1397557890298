/** The numbers of seals over several lives of one database: an archive, what was lost after it, and two restores of it. */
// tier: process
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
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

/** Of a database, of an archive of it, of what followed there, and of what followed in the lives that the archive had. */
async function livesOf(name: string) {
  const file = join(dir, `${name}.tar`);
  const kept = await seal(database.db, config.masterKey, 2);
  await backUp(file);
  const first = await seal(database.db, config.masterKey, 2);
  const begunAt = Math.floor(Date.now() / 1000);
  const lives = [first, await live(`${name}-second`, file), await live(`${name}-third`, file)];
  return { kept, lives, begunAt };
}

/** Every life has gone on from what was kept, under numbers of its own. Returns the epochs of the later ones. */
function assertApart({ kept, lives }: { kept: Seal[]; lives: Seal[][] }): bigint[] {
  const epochs = vaultIds.map((vault) => {
    const own = lives.map((seals) => seals.filter((one) => one.vault === vault));
    const before = kept.filter((one) => one.vault === vault);
    const later = own.flatMap((seals) => {
      assert.deepEqual(seals.slice(0, before.length), before, 'every life begins with what the archive has');
      assert.equal(seals.length, before.length + 2);
      for (const [place, { previous }] of seals.entries()) {
        assert.equal(previous, seals[place - 1]?.id ?? '00'.repeat(32));
      }
      return seals.slice(before.length);
    });
    const numbers = [...before, ...later].map(({ sequence }) => sequence);
    assert.equal(new Set(numbers).size, before.length + 6, numbers.join());
    return later.slice(2).map(({ sequence }) => BigInt(sequence) >> 32n);
  });
  return [...new Set(epochs.flat())];
}

test('no number is used twice, however often the same archive is restored', async () => {
  const made = await livesOf('sealed');
  for (const epoch of assertApart(made)) assert.ok(epoch >= made.begunAt, `${epoch}`);
});

test('nor if both restores begin the same epoch, as within one second or by a clock that was set back', async () => {
  const ahead = Math.floor(Date.now() / 1000) + 100_000_000;
  await sql`update seal_epoch set epoch = ${ahead}`.execute(database.db);
  assert.deepEqual(assertApart(await livesOf('ahead')), [BigInt(ahead) + 1n]);
});
