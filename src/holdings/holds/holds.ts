/** Legal holds: while one is placed on a vault, a file or a record, nothing of it is erased, in whichever way. */
import { sql } from 'kysely';
import { auditWrite } from '../../access/audit/audit.ts';
import { findArchived } from '../../anchoring/archive/archived-rows.ts';
import { locks } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { Caller } from '../../runtime/caller.ts';
import { AppError } from '../../runtime/errors.ts';

export type HoldSubject = { vaultAddress: string } | { fileId: string } | { recordId: string };

export interface Hold {
  /** Id of the vault, the file or the record. */
  subjectId: string;
  held: boolean;
  /** Empty when it is not held. */
  reason: string;
  placedAt: Date | null;
}

export interface Holds {
  /** Null: release it. A repeat changes nothing but the reason. */
  put(caller: Caller, subject: HoldSubject, reason: string | null): Promise<Hold>;
  /** By subject. */
  list(
    workspaceId: string,
    page: { subjectId: string | undefined; after: string | undefined; limit: number },
  ): Promise<Hold[]>;
}

export function createHolds(db: Db): Holds {
  return {
    put: (caller, subject, reason) =>
      db.transaction().execute(async (db) => {
        const { workspaceId } = caller;
        const subjectId = await findSubject(db, workspaceId, subject);
        // Waits for erasures that have found no hold; later ones see this one.
        await sql`select pg_advisory_xact_lock(${locks.holds}, hashtext(${workspaceId}))`.execute(db);
        const placed = await db
          .selectFrom('holds')
          .select(['reason', 'placed_at'])
          .where('workspace_id', '=', workspaceId)
          .where('subject_id', '=', subjectId)
          .executeTakeFirst();
        if (reason === null) {
          if (!placed) return { subjectId, held: false, reason: '', placedAt: null };
          await db
            .deleteFrom('holds')
            .where('workspace_id', '=', workspaceId)
            .where('subject_id', '=', subjectId)
            .execute();
          await insertAll(db, [
            auditWrite(caller, {
              action: 'hold.release',
              targetId: subjectId,
              details: { reason: placed.reason },
            }),
          ]);
          return { subjectId, held: false, reason: '', placedAt: null };
        }
        const placedAt = placed?.placed_at ?? new Date();
        if (placed?.reason !== reason) {
          await sql`
            insert into holds (workspace_id, subject_id, reason, placed_at)
            values (${workspaceId}, ${subjectId}, ${reason}, ${placedAt})
            on conflict (workspace_id, subject_id) do update set reason = excluded.reason`.execute(db);
          await insertAll(db, [
            auditWrite(caller, { action: 'hold.place', targetId: subjectId, details: { reason } }),
          ]);
        }
        return { subjectId, held: true, reason, placedAt };
      }),

    async list(workspaceId, { subjectId, after, limit }) {
      let select = db
        .selectFrom('holds')
        .select(['subject_id', 'reason', 'placed_at'])
        .where('workspace_id', '=', workspaceId);
      if (subjectId !== undefined) select = select.where('subject_id', '=', subjectId);
      if (after !== undefined) select = select.where('subject_id', '>', after);
      const rows = await select.orderBy('subject_id').limit(limit).execute();
      return rows.map((row) => ({
        subjectId: row.subject_id,
        held: true,
        reason: row.reason,
        placedAt: row.placed_at,
      }));
    },
  };
}

/** First in the transaction of every erasure: no hold is placed or released until it ends. */
export async function keepHolds(db: Db, workspaceId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${locks.holds}, hashtext(${workspaceId}))`.execute(db);
}

/** Those of the subjects that are held, with the reason. The transaction keeps the holds. */
export async function findHeld(
  db: Db,
  workspaceId: string,
  subjectIds: string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ subject_id: string; reason: string }>`
    select subject_id, reason from holds
    where workspace_id = ${workspaceId} and subject_id = any(${[...new Set(subjectIds)]})
    order by subject_id`.execute(db);
  return new Map(rows.map(({ subject_id, reason }) => [subject_id, reason]));
}

/** `subjectIds`: of the thing that is to be erased, and of the vaults that it belongs to. */
export async function refuseHeld(db: Db, workspaceId: string, subjectIds: string[]): Promise<void> {
  const [held] = await findHeld(db, workspaceId, subjectIds);
  if (!held) return;
  const [subjectId, reason] = held;
  throw new AppError(
    'on_hold',
    `${nounOf(subjectId)} ${subjectId} is under legal hold (${reason}), so nothing of it may be erased. Nothing was erased.`,
  );
}

function nounOf(subjectId: string): string {
  if (subjectId.startsWith('vlt_')) return 'The vault';
  return subjectId.startsWith('fil_') ? 'The file' : 'The record';
}

async function findSubject(db: Db, workspaceId: string, subject: HoldSubject): Promise<string> {
  const [what, name, select] =
    'vaultAddress' in subject
      ? ([
          'vault',
          subject.vaultAddress,
          sql`vaults where lower(address) = ${subject.vaultAddress.toLowerCase()}`,
        ] as const)
      : 'fileId' in subject
        ? (['file', subject.fileId, sql`files where id = ${subject.fileId}`] as const)
        : ([
            'record',
            subject.recordId,
            sql`records where id = ${subject.recordId} and version = 1`,
          ] as const);
  const { rows } = await sql<{ id: string }>`
    select id from ${select} and workspace_id = ${workspaceId}`.execute(db);
  const archived =
    'recordId' in subject && rows.length === 0 ? await findArchived(db, workspaceId, [subject.recordId]) : [];
  const [found] = [...rows, ...archived];
  if (!found) throw new AppError('resource_not_found', `There is no ${what} ${name}.`);
  return found.id;
}
