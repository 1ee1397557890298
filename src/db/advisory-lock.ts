/** Work that only one node does at a time, guarded by PostgreSQL's advisory locks. */
import { sql } from 'kysely';
import type { Pool, QueryResult } from 'pg';
import type { Db } from './database.ts';
import { type RunStatement, runOnClient } from './statement.ts';

/** All locks of the service in one place, so that no two kinds of work share one. */
export const locks = {
  firstMasterKey: 4_801_001,
  masterKeyRotation: 4_801_002,
  auditChain: 4_801_003,
  eventOrder: 4_801_004,
  firstStart: 4_801_005,
  deliveryPartitions: 4_801_006,
  deliveryHours: 4_801_018,
  anchoredHours: 4_801_019,
  notices: 4_801_042,
  chainLead: 4_801_007,
  /** The second key is the workspace. */
  assetParents: 4_801_010,
  /** The second key is the workspace. */
  webhookEndpoints: 4_801_012,
  /** The second key is the person and the asset. */
  looksOfPerson: 4_801_017,
  /** The second key is the workspace. */
  apiKeys: 4_801_015,
  /** Taken by triggers: prevents a change of the settings while a reservation is made under them. */
  budgetSettings: 4_801_016,
  /** The second key is the workspace: shared by erasures, exclusive for changes of holds. */
  holds: 4_801_020,
  /** The second key is the workspace: who of its workers is the same person. */
  identities: 4_801_070,
  /** The second key is the workspace. */
  workRules: 4_801_071,
  /** The second key is the workspace. */
  approvals: 4_801_080,
  retention: 4_801_021,
  restore: 4_801_008,
  /** Held by the session. */
  migration: 4_801_044,
  auditAnchors: 4_801_011,
  baseBackup: 4_801_046,
} as const;

/** Waits for the lock, and holds it until the transaction ends. */
export function withLock<T>(db: Db, lock: number, work: (db: Db) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (db) => {
    await sql`select pg_advisory_xact_lock(${lock})`.execute(db);
    return work(db);
  });
}

/** Returns `again` without doing the work when another session holds the lock: that one may have looked too early. */
export function tryWithLock(
  db: Db,
  lock: number,
  work: (db: Db) => Promise<boolean>,
): Promise<boolean | 'again'> {
  return db.transaction().execute(async (db) => ((await tryLock(db, lock)) ? work(db) : 'again'));
}

/** The same for work that is done many times a second, with prepared statements. */
export async function tryWithLockOnClient(
  pool: Pool,
  lock: number,
  work: (run: RunStatement) => Promise<boolean>,
): Promise<boolean | 'again'> {
  const client = await pool.connect();
  try {
    const results: unknown = await client.query(`begin; select pg_try_advisory_xact_lock(${lock}) as taken`);
    const [, taking] = results as QueryResult<{ taken: boolean }>[];
    const done = taking?.rows[0]?.taken ? await work(runOnClient(client)) : 'again';
    await client.query('commit');
    client.release();
    return done;
  } catch (error) {
    // Closes the connection, which ends the transaction.
    client.release(true);
    throw error;
  }
}

/** Takes the lock until the transaction ends; false when another session holds it. */
export async function tryLock(db: Db, lock: number): Promise<boolean> {
  const { rows } = await sql<{
    taken: boolean;
  }>`select pg_try_advisory_xact_lock(${lock}) as taken`.execute(db);
  return rows[0]?.taken ?? false;
}
