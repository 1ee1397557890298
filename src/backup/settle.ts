/** The end of every restore: what belonged to the old installation is let go, and no number is used a second time. */
import { sql } from 'kysely';
import type pg from 'pg';
import { beginSealEpoch } from '../anchoring/batching/seal-epoch.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { openDatabase } from '../db/database.ts';
import { restoreMark } from '../db/migrate.ts';
import { renewFeedGeneration } from '../events/feed-generation.ts';
import { fitsCheckValue } from '../keys/envelope.ts';
import type { MasterKeys } from '../keys/master-keys.ts';
import { OperatorError } from '../runtime/errors.ts';
import { type ErasedBlob, eraseAgain } from './blob-copy.ts';
import { type ErasedAgain, eraseJournalled } from './erase-again.ts';

interface Settling {
  /** Blobs that were erased while the backup was made. */
  erased?: ErasedBlob[];
  /** The blob store with the journal of erasures. */
  store: BlobStore;
  keys: MasterKeys | null;
}

const noneAgain: ErasedAgain = { subjects: 0, objects: [], journalled: 0 };

/** Checks the keys against what the restored database records about its master keys. */
export async function requireFitting(client: pg.ClientBase, keys: MasterKeys | null): Promise<void> {
  const { rows } = await client.query<{ version: number; check_value: Buffer }>(
    'select version, check_value from master_keys',
  );
  for (const { version, check_value } of rows) {
    const key = keys?.byVersion.get(version);
    if (key && fitsCheckValue({ version, key }, check_value)) continue;
    throw new OperatorError(
      `The given master key is not the one that the backup was sealed with (version ${version}). Give the key file that was created with it, and restore again.`,
    );
  }
}

/** Leaders, senders and their claims belonged to the original installation: here everything is free to be claimed. */
export async function settle(
  connection: () => pg.ClientConfig,
  { erased = [], store, keys }: Settling,
): Promise<ErasedAgain> {
  const database = openDatabase({
    connection,
    settings: { statement_timeout: 0 },
    onError() {},
    max: 1,
  });
  try {
    const again = await database.db.transaction().execute(async (db) => {
      await eraseAgain(db, erased);
      const again = keys ? await eraseJournalled(db, { store, keys }) : noneAgain;
      await sql`update leaders set backend_pid = null`.execute(db);
      await renewFeedGeneration(db);
      // What was sealed after the backup is lost, but its numbers must not be used again.
      await beginSealEpoch(db);
      await sql`delete from webhook_nodes`.execute(db);
      // They were clean in another place.
      await sql`delete from clean_checks`.execute(db);
      await sql`update blob_marker set written = false`.execute(db);
      await sql`update webhook_queue set claim_id = null, claimed_by = null, lease_until = null
        where claim_id is not null`.execute(db);
      await sql`drop table if exists ${sql.table(restoreMark)}`.execute(db);
      return again;
    });
    for (const name of again.objects) await store.remove(name);
    // Else what was erased again would stay in the files of the database for a while.
    if (again.subjects > 0) {
      await sql`vacuum (full) anchor_leaves`.execute(database.db);
      await sql`vacuum (full) archived_records`.execute(database.db);
    }
    return again;
  } finally {
    await database.close();
  }
}
