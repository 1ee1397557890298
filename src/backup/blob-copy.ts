/** Copies the blobs of a backup from the store into the archive and back, still encrypted. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { BlobMissing, type BlobStore } from '../blobs/blob-store.ts';
import { parseObjectName } from '../blobs/object-names.ts';
import type { Db } from '../db/database.ts';
import type { Member } from './archive-reader.ts';
import type { ArchiveWriter } from './archive-writer.ts';
import {
  blobMember,
  blobsPerList,
  damaged,
  kindOf,
  type ListedBlob,
  listMember,
  type Manifest,
  parseList,
} from './format.ts';
import { textOf } from './verify-archive.ts';

export interface CopyOptions {
  archive: ArchiveWriter;
  store: BlobStore;
  /** Reads the current state, not the snapshot. */
  db: Db;
  namesFile: string;
  onProgress(progress: { done: number; total: number }): void;
  signal?: AbortSignal | undefined;
  total: number;
}

/**
 * Copies the blobs named in the snapshot. One that was erased since is not an error: its key will not be restored
 * either.
 */
export async function copyBlobs(options: CopyOptions): Promise<Manifest['blobs']> {
  const { archive, store, db, signal, onProgress, total } = options;
  const sum = { count: 0, bytes: 0, erased: 0, missing: 0 };
  const hash = createHash('sha256');
  let lists = 0;
  let listed: ListedBlob[] = [];

  async function writeList(): Promise<void> {
    if (listed.length === 0) return;
    lists += 1;
    const text = Buffer.from(listed.map((blob) => `${JSON.stringify(blob)}\n`).join(''));
    hash.update(text);
    await archive.addPieces(listMember(lists), one(text), { compress: true });
    listed = [];
  }

  for await (const name of linesOf(options.namesFile)) {
    signal?.throwIfAborted();
    const written = await copyOne(name);
    listed.push(written);
    if ('sha256' in written) sum.count += 1;
    else if ('erasedAt' in written) sum.erased += 1;
    else sum.missing += 1;
    if (listed.length === blobsPerList) await writeList();
  }
  await writeList();
  return { ...sum, lists: { count: lists, sha256: hash.digest('hex') } };

  async function copyOne(name: string): Promise<ListedBlob> {
    // Reads the first bytes before it begins the member: a missing object must not leave an empty member.
    const source = store.get(name)[Symbol.asyncIterator]();
    const first = await source.next().catch((error) => {
      if (error instanceof BlobMissing) return null;
      throw error;
    });
    if (first === null) {
      const erasedAt = await findErased(db, name);
      return erasedAt === null ? { name, missing: true } : { name, erasedAt: erasedAt.toISOString() };
    }
    async function* bytes(): AsyncGenerator<Uint8Array> {
      for (let next = first; next && !next.done; next = await source.next()) {
        signal?.throwIfAborted();
        sum.bytes += next.value.length;
        onProgress({ done: sum.bytes, total: Math.max(total, sum.bytes) });
        yield next.value;
      }
    }
    return { name, ...(await archive.addPieces(blobMember(name), bytes())) };
  }
}

async function findErased(db: Db, name: string): Promise<Date | null> {
  const ref = parseObjectName(name);
  if (!ref) return null;
  const row = await db
    .selectFrom('blobs')
    .select('erased_at')
    .where('workspace_id', '=', ref.workspaceId)
    .where('id', '=', ref.blobId)
    .executeTakeFirst();
  return row?.erased_at ?? null;
}

export interface ErasedBlob {
  name: string;
  erasedAt: string;
}

export interface PutOptions {
  total: number;
  onProgress(progress: { done: number; total: number }): void;
  signal?: AbortSignal | undefined;
}

/** Puts the blobs of an archive into the store; compares each list with the bytes put since the list before. */
export function putBlobs(store: BlobStore, { total, onProgress, signal }: PutOptions) {
  const erased: ErasedBlob[] = [];
  let put: { name: string; sha256: string }[] = [];
  let done = 0;
  return {
    erased,
    async put(member: Member): Promise<void> {
      const { name } = kindOf(member.name);
      const hash = createHash('sha256');
      async function* bytes(): AsyncGenerator<Uint8Array> {
        for await (const piece of member.pieces) {
          hash.update(piece);
          done += piece.length;
          yield piece;
          onProgress({ done, total });
        }
      }
      await store.put(name, bytes(), { signal });
      put.push({ name, sha256: hash.digest('hex') });
    },
    async check(member: Member): Promise<void> {
      const listed = parseList(await textOf(member));
      const expected = listed
        .filter((blob) => 'sha256' in blob)
        .map(({ name, sha256 }) => ({ name, sha256 }));
      if (JSON.stringify(expected) !== JSON.stringify(put))
        throw damaged('blobs changed while they were restored');
      put = [];
      for (const blob of listed) if ('erasedAt' in blob) erased.push(blob);
    },
  };
}

/**
 * Inside the last transaction of a restore: erases the blobs that were erased while the backup was made. Their bytes
 * were no longer available, and their keys are dropped in the same commit.
 */
export async function eraseAgain(db: Db, erased: ErasedBlob[]): Promise<void> {
  for (const { name, erasedAt } of erased) {
    const ref = parseObjectName(name);
    if (!ref) continue;
    const at = new Date(erasedAt);
    await db
      .updateTable('blobs')
      .set({ erased_at: at })
      .where('workspace_id', '=', ref.workspaceId)
      .where('id', '=', ref.blobId)
      .execute();
    await db
      .updateTable('file_versions')
      .set({ erased_at: at })
      .where('workspace_id', '=', ref.workspaceId)
      .where('blob_id', '=', ref.blobId)
      .where('erased_at', 'is', null)
      .execute();
    await db
      .deleteFrom('secrets')
      .where('workspace_id', '=', ref.workspaceId)
      .where('purpose', '=', 'blob')
      .where('id', '=', ref.blobId)
      .execute();
  }
}

async function* linesOf(file: string): AsyncGenerator<string> {
  for await (const line of createInterface({ input: createReadStream(file) })) if (line !== '') yield line;
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
