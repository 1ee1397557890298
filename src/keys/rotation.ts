/** Replaces the master key while services run: rewraps every data key, then retires the old master key. */
import { sql } from 'kysely';
import type { MasterKeySource } from '../config/data-settings.ts';
import { locks } from '../db/advisory-lock.ts';
import type { Db } from '../db/database.ts';
import { violates } from '../db/faults.ts';
import { OperatorError } from '../runtime/errors.ts';
import { makeCheckValue, rewrap } from './envelope.ts';
import { currentMaster, masterOf } from './keyring.ts';
import {
  type MasterKeys,
  readMasterKeys,
  withNewVersion,
  withOlder,
  withOnlyCurrent,
  writeMasterKeyFile,
} from './master-keys.ts';

export interface RotationOptions {
  db: Db;
  source: MasterKeySource;
  /** How long running services may take to notice the new key; see refreshMs of the keyring loop. */
  noticeMs: number;
  onProgress(progress: { done: number; total: number }): void;
}

export interface RotationResult {
  version: number;
  rewrapped: number;
  /** Where the retired keys were stored; earlier backups need them. Null if the operator manages the keys. */
  retiredFile: string | null;
}

const batchSize = 500;

export async function rotateMasterKey(options: RotationOptions): Promise<RotationResult> {
  return options.db.connection().execute(async (db) => {
    const lock = await sql<{
      taken: boolean;
    }>`select pg_try_advisory_lock(${locks.masterKeyRotation}) as taken`.execute(db);
    if (!lock.rows[0]?.taken)
      throw new OperatorError(
        'Another rotation of the master key is in progress. Wait until it has finished.',
      );
    try {
      return await rotate({ ...options, db });
    } finally {
      await sql`select pg_advisory_unlock(${locks.masterKeyRotation})`.execute(db);
    }
  });
}

async function rotate({ db, source, noticeMs, onProgress }: RotationOptions): Promise<RotationResult> {
  const keys = await chooseKeys(db, source);
  const next = currentMaster(keys);
  await db
    .insertInto('master_keys')
    .values({ version: next.version, check_value: makeCheckValue(next) })
    .onConflict((conflict) => conflict.column('version').doNothing())
    .execute();
  await new Promise((resolve) => setTimeout(resolve, noticeMs));

  let rewrapped = 0;
  let total = await countOutdated(db, next.version);
  do {
    for (let batch = await rewrapBatch(db, keys); batch > 0; batch = await rewrapBatch(db, keys)) {
      rewrapped += batch;
      total = Math.max(total, rewrapped);
      onProgress({ done: rewrapped, total });
    }
  } while (!(await retireOthers(db, next.version)));

  if ('text' in source) return { version: next.version, rewrapped, retiredFile: null };
  const retiredFile = `${source.file}.retired`;
  const retired = await readMasterKeys({ file: retiredFile, generated: true });
  await writeMasterKeyFile(retiredFile, withOlder(keys, retired));
  await writeMasterKeyFile(source.file, withOnlyCurrent(keys));
  return { version: next.version, rewrapped, retiredFile };
}

/** The keys, with the target as current: that of an interrupted rotation, one that the operator gave, or a new one. */
async function chooseKeys(db: Db, source: MasterKeySource): Promise<MasterKeys> {
  const configured = await readMasterKeys(source);
  const registered = await db
    .selectFrom('master_keys')
    .select('version')
    .orderBy('version', 'desc')
    .execute();
  const newest = registered[0]?.version ?? 0;
  if (!configured || newest === 0)
    throw new OperatorError('There is no master key yet: start the service once first.');
  if (registered.length > 1 || configured.current > newest) return configured;
  if ('text' in source) {
    throw new OperatorError(
      `HOLDFAST_MASTER_KEY has no version above ${newest}. Set it to "${newest}:OLDKEY,${newest + 1}:NEWKEY" on every node, restart them, and run this again; afterwards remove version ${newest}.`,
    );
  }
  const keys = withNewVersion(configured);
  await writeMasterKeyFile(source.file, keys);
  return keys;
}

async function countOutdated(db: Db, version: number): Promise<number> {
  const { count } = await db
    .selectFrom('secrets')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('master_version', '<>', version)
    .executeTakeFirstOrThrow();
  return count;
}

/** Rewraps a batch of outdated data keys; returns how many. */
function rewrapBatch(db: Db, keys: MasterKeys): Promise<number> {
  const next = currentMaster(keys);
  return db.transaction().execute(async (db) => {
    const rows = await db
      .selectFrom('secrets')
      .select(['workspace_id', 'purpose', 'id', 'master_version', 'wrapped_data_key', 'ciphertext'])
      .where('master_version', '<>', next.version)
      .limit(batchSize)
      .forUpdate()
      .execute();
    for (const row of rows) {
      const ref = { workspaceId: row.workspace_id, purpose: row.purpose, id: row.id };
      await db
        .updateTable('secrets')
        .set({
          master_version: next.version,
          wrapped_data_key: rewrap(masterOf(keys, row.master_version), next, ref, row),
        })
        .where('workspace_id', '=', row.workspace_id)
        .where('purpose', '=', row.purpose)
        .where('id', '=', row.id)
        .execute();
    }
    return rows.length;
  });
}

/** False if a node that has not noticed the rotation sealed something with an old key meanwhile. */
async function retireOthers(db: Db, version: number): Promise<boolean> {
  try {
    await db.deleteFrom('master_keys').where('version', '<>', version).execute();
    return true;
  } catch (error) {
    if (violates(error, 'secrets_master_version_fkey')) return false;
    throw error;
  }
}
