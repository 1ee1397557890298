/** Work that one node does at a time, held apart by PostgreSQL's advisory locks. */
import { sql } from 'kysely';
import type { Db } from './database.ts';

/** Every lock of the service, so that no two kinds of work share one. */
export const locks = {
  firstMasterKey: 4_801_001,
  masterKeyRotation: 4_801_002,
  auditChain: 4_801_003,
  eventOrder: 4_801_004,
  firstStart: 4_801_005,
  deliveryPartitions: 4_801_006,
  chainLead: 4_801_007,
  /** With a second number for the workspace. */
  assetParents: 4_801_010,
  /** With a second number for the workspace. */
  webhookEndpoints: 4_801_012,
  /** With a second number for the person and the asset. */
  looksOfPerson: 4_801_017,
  /** With a second number for the workspace. */
  apiKeys: 4_801_015,
  /** Taken by triggers: against a change of the settings while something is reserved under them. */
  budgetSettings: 4_801_016,
  restore: 4_801_008,
  auditAnchors: 4_801_011,
} as const;

/** Waits for its turn, and holds it until the transaction ends. */
export function withLock<T>(db: Db, lock: number, work: (db: Db) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (db) => {
    await sql`select pg_advisory_xact_lock(${lock})`.execute(db);
    return work(db);
  });
}

/** Leaves it to whoever is at it already, and says false then. */
export function tryWithLock(db: Db, lock: number, work: (db: Db) => Promise<boolean>): Promise<boolean> {
  return db.transaction().execute(async (db) => ((await tryLock(db, lock)) ? work(db) : false));
}

/** Whether the turn is ours until the transaction ends; false when somebody has it. */
export async function tryLock(db: Db, lock: number): Promise<boolean> {
  const { rows } = await sql<{
    taken: boolean;
  }>`select pg_try_advisory_xact_lock(${lock}) as taken`.execute(db);
  return rows[0]?.taken ?? false;
}
