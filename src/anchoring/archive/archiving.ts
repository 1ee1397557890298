/**
 * Moves old records into files of the blob store, a few thousand at a time: writes a file, reads it back, and only then
 * removes the rows that are still as they were read. Killed at any moment, a record is in the database or in a file, and the
 * next run takes up what is left.
 */
import { hash } from 'node:crypto';
import { sql } from 'kysely';
import { auditWrite } from '../../access/audit/audit.ts';
import type { Blobs, ReceivedBlob } from '../../blobs/blobs.ts';
import type { Db } from '../../db/database.ts';
import { isDeadlock } from '../../db/faults.ts';
import { insertAll } from '../../db/writes.ts';
import type { Caller } from '../../runtime/caller.ts';
import { OperatorError } from '../../runtime/errors.ts';
import { markArchived } from './archived-rows.ts';
import { type Candidate, findCandidates, findVaults, readTexts } from './candidates.ts';
import { fileHeader, packEntry, unpackEntry } from './entry.ts';
import { removeEmptyFiles } from './files.ts';

export interface ArchiveRun {
  before: Date;
  /** Default: all. */
  workspaceId?: string | undefined;
  /** Only counts. */
  dryRun?: boolean;
  signal?: AbortSignal;
  onProgress?(moved: number): void;
}

export interface Archived {
  records: number;
  versions: number;
  /** About what the rows took in the database, without their indexes. */
  rowBytes: number;
  files: number;
  fileBytes: number;
  /** Records that are old enough, and stay: something of them is newer, not final, or too large. */
  left: number;
  /** Earlier files with nothing left in them. */
  removedFiles: number;
}

export interface ArchivingDeps {
  db: Db;
  blobs: Pick<Blobs, 'receive' | 'read' | 'erase'>;
  /** Who archives, in a workspace. */
  callerIn(workspaceId: string): Caller;
  /** A file is full at either. */
  recordsPerFile?: number;
  bytesPerFile?: number;
  /** Records per commit. */
  atOnce?: number;
}

/** Where a record is in the file that is being written. */
interface Placed extends Candidate {
  at: number;
  bytes: number;
  key: Buffer;
  /** Of its text. */
  sha256: string;
}

interface WrittenFile {
  number: number;
  workspaceId: string;
  blobId: string;
  size: number;
  /** By vault. */
  parts: Map<string, number>;
}

const lookedAtOnce = 200;
/** What is read of records in one statement, at most, unless a single one is larger. */
const textBytesAtOnce = 4 * 1024 * 1024;
const attempts = 5;

export async function archiveRecords(deps: ArchivingDeps, run: ArchiveRun): Promise<Archived> {
  const { db, blobs, recordsPerFile = 5_000, bytesPerFile = 64 * 1024 * 1024, atOnce = 500 } = deps;
  const sum: Archived = {
    ...{ records: 0, versions: 0, rowBytes: 0, files: 0, fileBytes: 0, left: 0, removedFiles: 0 },
  };
  const { before, dryRun = false, signal } = run;
  for (const { workspaceId, vaultIds } of await findVaults(db, run.workspaceId)) {
    if (!dryRun) sum.removedFiles += await removeEmptyFiles(deps, workspaceId);
    const candidates = candidatesOf(workspaceId, vaultIds);
    for (;;) {
      signal?.throwIfAborted();
      const first = await candidates.next();
      if (first.done) break;
      if (dryRun) count(first.value);
      else await archiveFile(first.value, candidates);
    }
  }
  return sum;

  function count(records: Candidate[]): void {
    for (const { leafIds, rowBytes } of records) {
      sum.records += 1;
      sum.versions += leafIds.length;
      sum.rowBytes += rowBytes;
    }
    run.onProgress?.(sum.records);
  }

  async function* candidatesOf(workspaceId: string, vaultIds: string[]): AsyncGenerator<Candidate[]> {
    for (const vaultId of vaultIds) {
      for (let after = 'rec_'; ; ) {
        signal?.throwIfAborted();
        const search = { workspaceId, vaultId, before, after, limit: lookedAtOnce };
        const page = await findCandidates(db, search);
        if (!page) break;
        sum.left += page.left;
        if (page.found.length > 0) yield page.found;
        after = page.last;
      }
    }
  }

  async function archiveFile(first: Candidate[], more: AsyncGenerator<Candidate[]>): Promise<void> {
    const workspaceId = first[0]?.workspaceId ?? '';
    const placed: Placed[] = [];
    let size = fileHeader.length;
    async function* pieces(): AsyncGenerator<Buffer> {
      yield Buffer.from(fileHeader);
      for (let page = first; ; ) {
        for await (const { candidate, text } of textsOf(db, page)) {
          const dataBytes = dataBytesOf(text, candidate);
          // A version was added since it was found.
          if (dataBytes === null) continue;
          const { key, bytes } = packEntry(text);
          const sha256 = hash('sha256', text);
          placed.push({ ...candidate, dataBytes, key, sha256, at: size, bytes: bytes.length });
          size += bytes.length;
          yield bytes;
        }
        if (placed.length >= recordsPerFile || size >= bytesPerFile) return;
        const next = await more.next();
        if (next.done) return;
        page = next.value;
      }
    }
    const limits = { maxBytes: Number.MAX_SAFE_INTEGER, signal, givenAway: false };
    const received = await blobs.receive(workspaceId, pieces(), limits);
    const file = await note(received, workspaceId, placed);
    await verify(file, placed);
    let moved = 0;
    const byId = placed.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    for (let from = 0; from < byId.length; from += atOnce) {
      signal?.throwIfAborted();
      const gone = await moveOrRetry(file, byId.slice(from, from + atOnce));
      moved += gone.length;
      count(gone);
    }
    sum.left += placed.length - moved;
    sum.files += 1;
    sum.fileBytes += size;
  }

  /** From now on the sweep leaves the file alone. Nothing is in it yet. */
  async function note(received: ReceivedBlob, workspaceId: string, placed: Placed[]): Promise<WrittenFile> {
    const { size } = received;
    try {
      const file = await db.transaction().execute(async (db) => {
        const { blobId } = await received.attach(db, '');
        const { number } = await db
          .insertInto('archive_files')
          .values({ workspace_id: workspaceId, blob_id: blobId, size, before })
          .returning('number')
          .executeTakeFirstOrThrow();
        const parts = new Map<string, number>();
        for (const [vaultId, records] of Map.groupBy(placed, ({ vaultId }) => vaultId)) {
          const ids = records.map(({ id }) => id).sort();
          const part = await db
            .insertInto('archive_parts')
            .values({
              ...{ file: number, workspace_id: workspaceId, vault_id: vaultId },
              ...{ first_id: ids[0] ?? '', last_id: ids.at(-1) ?? '' },
            })
            .returning('number')
            .executeTakeFirstOrThrow();
          parts.set(vaultId, part.number);
        }
        return { number, workspaceId, blobId, size, parts };
      });
      await received.settle('committed');
      return file;
    } catch (error) {
      await received.settle('failed');
      throw error;
    }
  }

  /** Reads the file from the store, and compares each record with what the database has told. */
  async function verify(file: WrittenFile, placed: Placed[]): Promise<void> {
    const stored = (await blobs.read(file))[Symbol.asyncIterator]();
    let rest: Buffer = Buffer.alloc(0);
    async function take(bytes: number): Promise<Buffer> {
      const pieces = [rest];
      let length = rest.length;
      while (length < bytes) {
        const next = await stored.next();
        if (next.done) break;
        pieces.push(next.value);
        length += next.value.length;
      }
      const all = pieces.length === 1 ? rest : Buffer.concat(pieces);
      rest = all.subarray(bytes);
      return all.subarray(0, bytes);
    }
    let fits = (await take(fileHeader.length)).equals(fileHeader);
    for (const { key, bytes, sha256 } of placed) {
      if (!fits) break;
      fits = isOf(key, await take(bytes), sha256);
    }
    const isEnd = fits && rest.length === 0 && (await stored.next()).done === true;
    if (isEnd) return;
    await stored.return?.();
    throw new OperatorError(
      'A file of the archive does not read as it was written. Nothing was removed from the database. Check the disk or bucket of the blob store, and run it again.',
    );
  }

  async function moveOrRetry(file: WrittenFile, placed: Placed[]): Promise<Placed[]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await db.transaction().execute((db) => move(db, file, placed));
      } catch (error) {
        if (attempt === attempts || !isDeadlock(error)) throw error;
      }
    }
  }

  /** In one commit: the rows go, and what leads into the file is there. Whatever changed meanwhile stays. */
  async function move(db: Db, file: WrittenFile, placed: Placed[]): Promise<Placed[]> {
    const { workspaceId, number } = file;
    await sql`update archive_files set empty_since = null where number = ${number}`.execute(db);
    const ids = placed.map(({ id }) => id);
    // As whoever adds a version or erases does: in the order of ids, by the first version.
    await sql`
      select 1 from anchor_leaves
      where workspace_id = ${workspaceId} and subject_id = any(${ids}::text[]) and kind = 'record' and version = 1
      order by subject_id for update`.execute(db);
    const same: Placed[] = [];
    // A statement of its own, which sees what was committed during the wait.
    for await (const { candidate, text } of textsOf(db, placed))
      if (hash('sha256', text) === candidate.sha256) same.push(candidate);
    if (same.length === 0) return same;
    const { numAffectedRows } = await sql`
      delete from anchor_leaves
      where workspace_id = ${workspaceId} and subject_id = any(${same.map(({ id }) => id)}::text[]) and kind = 'record'`.execute(
      db,
    );
    const leafIds = same.flatMap((record) => record.leafIds);
    if (Number(numAffectedRows) !== leafIds.length)
      throw new Error(`${numAffectedRows} rows were removed, not ${leafIds.length}`);
    const column = <T>(of: (record: Placed) => T) => same.map(of);
    await sql`
      insert into archived_records (id, part, at, bytes, data_bytes, newest_at, key)
      select * from unnest(
        ${column(({ id }) => id)}::text[], ${column(({ vaultId }) => file.parts.get(vaultId))}::bigint[],
        ${column(({ at }) => at)}::integer[], ${column(({ bytes }) => bytes)}::integer[],
        ${column(({ dataBytes }) => dataBytes)}::integer[],
        ${column(({ newestAt }) => newestAt.toISOString())}::timestamptz[], ${column(({ key }) => key)}::bytea[])`.execute(
      db,
    );
    await markArchived(db, leafIds, true);
    const details = { before: before.toISOString(), records: same.length, versions: leafIds.length };
    const entry = { action: 'record.archive', targetId: file.blobId, details } as const;
    await insertAll(db, [auditWrite(deps.callerIn(workspaceId), entry)]);
    return same;
  }
}

/** Null when the text is of other leaves than the candidate. */
function dataBytesOf(text: string, { leafIds }: Candidate): number | null {
  const rows = JSON.parse(text) as { id: number; data: string | null }[];
  if (rows.length !== leafIds.length || rows.some(({ id }, at) => id !== leafIds[at])) return null;
  return rows.reduce((sum, { data }) => sum + Buffer.byteLength(data ?? ''), 0);
}

function isOf(key: Buffer, bytes: Buffer, sha256: string): boolean {
  try {
    return hash('sha256', unpackEntry({ key, bytes })) === sha256;
  } catch {
    return false;
  }
}

/** Reads the texts of records that are there still, some at a time. */
async function* textsOf<T extends Candidate>(
  db: Db,
  candidates: T[],
): AsyncGenerator<{ candidate: T; text: string }> {
  for (let from = 0; from < candidates.length; ) {
    let to = from + 1;
    let bytes = candidates[from]?.dataBytes ?? 0;
    for (; to < candidates.length && bytes < textBytesAtOnce; to += 1)
      bytes += candidates[to]?.dataBytes ?? 0;
    const page = candidates.slice(from, to);
    const texts = await readTexts(
      db,
      page[0]?.workspaceId ?? '',
      page.map(({ id }) => id),
    );
    for (const candidate of page) {
      const text = texts.get(candidate.id);
      if (text !== undefined) yield { candidate, text };
    }
    from = to;
  }
}
