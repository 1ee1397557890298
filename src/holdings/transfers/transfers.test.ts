/** What the confirmation of transfers does, the first time and again. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import type { AnchoredLeaf } from '../../anchoring/announcer.ts';
import type { Database } from '../../db/database.ts';
import { transferableFile } from '../files/file-transfer.ts';
import { confirmTransfers } from './transfers.ts';

let database: Database;

before(async () => {
  database = await openTestDatabase();
  await sql`insert into workspaces (id, name, slug) values ('ws_1', 'a', 'a')`.execute(database.db);
  await sql`insert into vaults (workspace_id, id, name, description, address)
    select 'ws_1', 'vlt_' || n, '', '', '0x' || repeat(n::text, 40) from generate_series(1, 2) n`.execute(
    database.db,
  );
});
after(() => database.close());

/** A file on its way from the first vault to the second. */
async function startTransfer(fileId: string): Promise<void> {
  await sql`insert into files (workspace_id, id, vault_id, version, last_leaf, transfer_id)
    values ('ws_1', ${fileId}, 'vlt_1', 1, sha256('l'), ${`trf_${fileId}`})`.execute(database.db);
  await sql`insert into transfers (workspace_id, id, subject_kind, subject_id, number, subject_version, from_vault_id,
      to_vault_id)
    values ('ws_1', ${`trf_${fileId}`}, 'file', ${fileId}, 1, 1, 'vlt_1', 'vlt_2')`.execute(database.db);
}

/** Returns the files whose transfer is announced. */
async function confirm(fileId: string, announcedBefore: boolean): Promise<string[]> {
  const leaf: AnchoredLeaf = {
    workspaceId: 'ws_1',
    kind: 'transfer',
    subjectId: fileId,
    version: 1,
    vaultId: 'vlt_1',
    claims: null,
    announcedBefore,
    transactionHash: '0x01',
    blockNumber: 7,
    anchoredAt: new Date(),
  };
  const writes = await database.db
    .transaction()
    .execute((db) => confirmTransfers(transferableFile)(db, [leaf]));
  return writes.flatMap(({ table, row }) =>
    table === 'events' ? JSON.parse(String(row.envelope)).data.file_id : [],
  );
}

async function ownerOf(
  fileId: string,
): Promise<[vault: string | undefined, transfer: string | null | undefined]> {
  const file = await database.db
    .selectFrom('files')
    .select(['vault_id', 'transfer_id'])
    .where('id', '=', fileId)
    .executeTakeFirst();
  return [file?.vault_id, file?.transfer_id];
}

test('a confirmed transfer moves the file once, and is announced each time', async () => {
  await startTransfer('fil_1');
  assert.deepEqual(await confirm('fil_1', false), ['fil_1']);
  assert.deepEqual(await ownerOf('fil_1'), ['vlt_2', null]);
  await sql`update files set vault_id = 'vlt_1' where id = 'fil_1'`.execute(database.db);
  assert.deepEqual(await confirm('fil_1', false), ['fil_1']);
  assert.deepEqual(await ownerOf('fil_1'), ['vlt_1', null], 'it may have moved on since');
});

test('a transfer that was completed with an earlier anchor changes nothing and is not announced again', async () => {
  await startTransfer('fil_2');
  await confirm('fil_2', false);
  await sql`update files set vault_id = 'vlt_1' where id = 'fil_2'`.execute(database.db);
  assert.deepEqual(await confirm('fil_2', true), []);
  assert.deepEqual(await ownerOf('fil_2'), ['vlt_1', null]);
});

test('a transfer that was not completed with its earlier anchor is completed and announced', async () => {
  await startTransfer('fil_3');
  assert.deepEqual(await confirm('fil_3', true), ['fil_3']);
  assert.deepEqual(await ownerOf('fil_3'), ['vlt_2', null]);
});
