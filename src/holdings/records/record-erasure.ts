/** Erases the data of records for good: data, salt and claims go; hash and leaf stay, and with them the proof. */
import { sql } from 'kysely';
import type { DefineStep, TakeStep } from '../../access/approvals/steps.ts';
import type { Archive } from '../../anchoring/archive/archive.ts';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { Caller } from '../../runtime/caller.ts';
import { type ErasureJournal, erasureWrites, timeOfErasure } from '../holds/erasures.ts';
import { keepHolds, refuseHeld } from '../holds/holds.ts';
import { noRecord, noRecordVersion } from './record-versions.ts';

export interface RecordErasureDeps {
  db: Db;
  /** What is archived comes back first. */
  archive: Pick<Archive, 'bringBack'>;
}

export interface RecordErasure {
  recordId: string;
  /** All versions without data that were asked for, also those that were erased before. */
  versions: number[];
  /** How many of them were erased now. */
  erased: number;
  /** Of data that was erased now. */
  bytes: number;
  /** Of the last of them. */
  erasedAt: Date;
}

interface Row {
  version: number;
  vault_id: string;
  /** Null when its data was erased already. */
  bytes: number | null;
  erased_at: Date | null;
  created_at: Date;
}

export interface RecordErasureInput {
  id: string;
  version?: number | undefined;
}

export interface RecordErasureStepDeps {
  archive: RecordErasureDeps['archive'];
  journal: Pick<ErasureJournal, 'settle'>;
  goneFromBackups(erasedAt: Date): string;
}

/** The step that a request takes, perhaps with a second person. */
export function eraseRecordStep(
  define: DefineStep,
  { archive, journal, goneFromBackups }: RecordErasureStepDeps,
): TakeStep<RecordErasureInput, RecordErasure> {
  return define<RecordErasureInput, RecordErasure>(
    'record.erase_data',
    async (db, caller, { id, version }) => {
      const erasure = await eraseRecordData({ db, archive }, caller, { id, version });
      const { versions, erased, bytes } = erasure;
      return {
        result: erasure,
        subjectId: id,
        effect: erased === 0 ? null : { version: version ?? null, newest: versions.at(-1), erased, bytes },
        answer: recordErasureJson(erasure, goneFromBackups),
        settle: () => (bytes > 0 ? journal.settle() : Promise.resolve()),
      };
    },
  );
}

export function recordErasureJson(
  { recordId, versions, bytes, erasedAt }: RecordErasure,
  goneFromBackups: (erasedAt: Date) => string,
) {
  return {
    recordId,
    versions: versions.slice(0, mostListed),
    bytes,
    erasedAt: erasedAt.toISOString(),
    goneFromBackupsAt: goneFromBackups(erasedAt),
  };
}

const mostListed = 1_000;

/** Default: all versions. A version that is added meanwhile is not erased. Repeating it changes nothing. */
async function eraseRecordData(
  { db, archive }: RecordErasureDeps,
  caller: Caller,
  { id, version }: { id: string; version: number | undefined },
): Promise<RecordErasure> {
  const { workspaceId } = caller;
  await keepHolds(db, workspaceId);
  const rows = await lockVersions({ db, archive }, { workspaceId, id, version });
  const open = rows.filter(({ bytes }) => bytes !== null);
  await refuseHeld(db, workspaceId, [id, ...(rows[0] ? [rows[0].vault_id] : [])]);
  const erasedAt = timeOfErasure(open);
  const bytes = open.reduce((sum, row) => sum + (row.bytes ?? 0), 0);
  if (open.length > 0) await eraseVersions(db, caller, { id, rows: open, bytes, erasedAt });
  const times = rows.map(({ erased_at }) => (erased_at ?? erasedAt).getTime());
  const versions = rows.map((row) => row.version);
  return { recordId: id, versions, erased: open.length, bytes, erasedAt: new Date(Math.max(...times)) };
}

/**
 * Inside a transaction that keeps the holds, for a record that is not held. Returns how many bytes were erased, or null
 * when a version was added at or after `end`: then nothing is.
 */
export async function eraseWholeRecord(
  { db, archive }: RecordErasureDeps,
  caller: Caller,
  { id, end }: { id: string; end: Date },
): Promise<{ bytes: number } | null> {
  const rows = await lockVersions(
    { db, archive },
    { workspaceId: caller.workspaceId, id, version: undefined },
  );
  if (rows.some(({ created_at }) => created_at >= end)) return null;
  const open = rows.filter(({ bytes }) => bytes !== null);
  const bytes = open.reduce((sum, row) => sum + (row.bytes ?? 0), 0);
  if (open.length > 0)
    await eraseVersions(db, caller, { id, rows: open, bytes, erasedAt: timeOfErasure(open) });
  return { bytes };
}

async function eraseVersions(
  db: Db,
  caller: Caller,
  { id, rows, bytes, erasedAt }: { id: string; rows: Row[]; bytes: number; erasedAt: Date },
): Promise<void> {
  const versions = rows.map(({ version }) => version);
  await sql`
    update records set data = null, salt = null, claims = null, erased_at = ${erasedAt}
    where workspace_id = ${caller.workspaceId} and id = ${id} and version = any(${versions}::integer[])`.execute(
    db,
  );
  await insertAll(db, erasureWrites(caller, { kind: 'record', subjectId: id, versions, bytes, erasedAt }));
}

/** Locks the record as a new version does, by its first one. */
async function lockVersions(
  { db, archive }: RecordErasureDeps,
  { workspaceId, id, version }: { workspaceId: string; id: string; version: number | undefined },
): Promise<Row[]> {
  const lock = async () => {
    const { rows } = await sql`
      select 1 from records where workspace_id = ${workspaceId} and id = ${id} and version = 1 for update`.execute(
      db,
    );
    return rows.length > 0;
  };
  if (!(await lock())) {
    await archive.bringBack(db, workspaceId, [id]);
    if (!(await lock())) throw noRecord(id);
  }
  // A statement of its own, which sees what was committed during the wait.
  const { rows } = await sql<Row>`
    select version, vault_id, octet_length(data) as bytes, erased_at, created_at from records
    where workspace_id = ${workspaceId} and id = ${id} and version = coalesce(${version ?? null}, version)
    order by version`.execute(db);
  if (rows.length === 0 && version !== undefined) throw noRecordVersion(id, version);
  return rows;
}
