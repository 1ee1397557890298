/** Erasures: what is committed with each, and how it gets into the journal beside the blobs. */
import { sql } from 'kysely';
import { auditWrite } from '../../access/audit/audit.ts';
import type { BlobStore } from '../../blobs/blob-store.ts';
import { appendErasures, journalSecret } from '../../blobs/erasure-journal.ts';
import type { Db } from '../../db/database.ts';
import type { Write } from '../../db/writes.ts';
import type { Keyring } from '../../keys/keyring.ts';
import { openServiceSecret } from '../../keys/service-secret.ts';
import type { Caller } from '../../runtime/caller.ts';

export interface Erasure {
  kind: 'record' | 'file';
  /** Of the record or the file. */
  subjectId: string;
  versions: number[];
  /** How many bytes the workspace stores less. */
  bytes: number;
  byRetention: boolean;
  erasedAt: Date;
}

/** Now, but not before the versions were made: another node's clock may be ahead, and a restore compares the two. */
export function timeOfErasure(versions: { created_at: Date }[]): Date {
  return new Date(
    versions.reduce((latest, { created_at }) => Math.max(latest, created_at.getTime()), Date.now()),
  );
}

/** The actor of erasures by retention. */
export function retentionCaller(workspaceId: string): Caller {
  return { workspaceId, actor: retentionActor, scopes: [], requestId: null };
}

const retentionActor = { kind: 'system', id: 'retention' } as const;

/** Rows to commit with the erasure. */
export function erasureWrites(
  caller: Caller,
  { kind, subjectId, versions, bytes, erasedAt }: Omit<Erasure, 'byRetention'>,
  details: Record<string, unknown> = {},
): Write[] {
  const action = kind === 'record' ? 'record.erase_data' : 'file.erase_content';
  return [
    auditWrite(caller, { action, targetId: subjectId, details: { versions, bytes, ...details } }),
    {
      table: 'erasures',
      row: {
        workspace_id: caller.workspaceId,
        kind,
        subject_id: subjectId,
        versions,
        bytes,
        by_retention: caller.actor.kind === 'system',
        erased_at: erasedAt,
      },
    },
  ];
}

export interface ErasureJournal {
  /** Copies erasures into the store; false when none were left. */
  step(): Promise<boolean>;
  /** After the commit of an erasure. Never throws: the loop tries again. */
  settle(): Promise<void>;
}

export interface ErasureJournalDeps {
  db: Db;
  store: BlobStore;
  keyring: Keyring;
  log: { warn(details: object, message: string): void };
  rowsAtOnce?: number;
}

export function createErasureJournal(deps: ErasureJournalDeps): ErasureJournal {
  const { db, store, keyring, log, rowsAtOnce = 500 } = deps;
  let known: Buffer | null = null;

  /** A crash between the two leaves rows that are copied again, which changes nothing for who reads them. */
  async function step(): Promise<boolean> {
    // Also when there is nothing to copy, so that every backup has it.
    known ??= await openServiceSecret(db, keyring, journalSecret);
    const key = known;
    return db.transaction().execute(async (db) => {
      const rows = await db
        .selectFrom('erasures')
        .select(['number', 'workspace_id', 'kind', 'subject_id', 'versions', 'erased_at'])
        .where('journalled', '=', false)
        .orderBy('number')
        .limit(rowsAtOnce)
        .forUpdate()
        .skipLocked()
        .execute();
      if (rows.length === 0) return false;
      await appendErasures(
        store,
        rows.map((row) => ({
          workspaceId: row.workspace_id,
          kind: row.kind,
          id: row.subject_id,
          versions: row.versions,
          erasedAt: row.erased_at.toISOString(),
        })),
        key,
      );
      await sql`update erasures set journalled = true
        where number = any(${rows.map(({ number }) => number)}::bigint[])`.execute(db);
      return rows.length === rowsAtOnce;
    });
  }

  return {
    step,
    async settle() {
      try {
        await step();
      } catch (error) {
        log.warn({ err: error }, 'an erasure could not be journalled in the blob store yet');
      }
    },
  };
}

export interface ListedErasure extends Erasure {
  number: number;
  /** Of all of them: a list has only the first ones of each erasure. */
  versionCount: number;
}

export const mostListedVersions = 100;

/** Newest first. */
export async function listErasures(
  db: Db,
  workspaceId: string,
  { subjectId, before, limit }: { subjectId: string | undefined; before: number | undefined; limit: number },
): Promise<ListedErasure[]> {
  let select = db
    .selectFrom('erasures')
    .select(['number', 'kind', 'subject_id', 'bytes', 'by_retention', 'erased_at'])
    .select([
      sql<number[]>`versions[1:${sql.lit(mostListedVersions)}]`.as('versions'),
      sql<number>`cardinality(versions)`.as('version_count'),
    ])
    .where('workspace_id', '=', workspaceId);
  if (subjectId !== undefined) select = select.where('subject_id', '=', subjectId);
  if (before !== undefined) select = select.where('number', '<', before);
  const rows = await select.orderBy('number', 'desc').limit(limit).execute();
  return rows.map((row) => ({
    number: row.number,
    kind: row.kind,
    subjectId: row.subject_id,
    versions: row.versions,
    versionCount: row.version_count,
    bytes: row.bytes,
    byRetention: row.by_retention,
    erasedAt: row.erased_at,
  }));
}
