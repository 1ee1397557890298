/** The mirror of blobs beside the archived log: what a disk store has, so that its loss loses no file. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BlobMissing, type BlobStore } from '../../blobs/blob-store.ts';
import { objectName } from '../../blobs/object-names.ts';
import { openBlobStore } from '../../blobs/open-blob-store.ts';
import type { Db } from '../../db/database.ts';
import { mirrorDirOf } from './base-format.ts';

const pageRows = 1_000;

export interface CopyBlobs {
  db: Db;
  from: BlobStore;
  to: BlobStore;
  /** Whether the target has the object. */
  has(name: string): boolean | Promise<boolean>;
  /** Only blobs that were stored since then. */
  since?: Date | undefined;
  onProgress?(progress: { done: number; total: number }): void;
  signal?: AbortSignal | undefined;
}

export interface CopiedBlobs {
  copied: number;
  missing: number;
}

/** Copies the blobs of the database that the target lacks; an object is there whole or not at all. */
export async function copyMissing(options: CopyBlobs): Promise<CopiedBlobs> {
  const { db, from, to, has, since, onProgress, signal } = options;
  const sum = { copied: 0, missing: 0 };
  let done = 0;
  for await (const name of namesOf(db, { storedSince: since ?? new Date(0) })) {
    signal?.throwIfAborted();
    if (!(await has(name))) {
      const found = await copyOne(name, { from, to, signal });
      sum[found ? 'copied' : 'missing'] += 1;
    }
    done += 1;
    onProgress?.({ done, total: done });
  }
  return sum;
}

type Which = { storedSince: Date } | { erasedBefore: Date };

async function* namesOf(db: Db, which: Which): AsyncGenerator<string> {
  let last: [string, string] = ['', ''];
  for (;;) {
    const page = db
      .selectFrom('blobs')
      .select(['workspace_id', 'id'])
      .where(({ eb, refTuple, tuple }) => eb(refTuple('workspace_id', 'id'), '>', tuple(...last)));
    const rows = await ('erasedBefore' in which
      ? page.where('erased_at', '<', which.erasedBefore)
      : page.where('erased_at', 'is', null).where('created_at', '>=', which.storedSince)
    )
      .orderBy('workspace_id')
      .orderBy('id')
      .limit(pageRows)
      .execute();
    for (const { workspace_id: workspaceId, id } of rows) yield objectName({ workspaceId, blobId: id });
    const end = rows.at(-1);
    if (!end || rows.length < pageRows) return;
    last = [end.workspace_id, end.id];
  }
}

async function copyOne(name: string, { from, to, signal }: Pick<CopyBlobs, 'from' | 'to' | 'signal'>) {
  try {
    await to.put(name, from.get(name), { signal });
    return true;
  } catch (error) {
    if (error instanceof BlobMissing) return false;
    throw error;
  }
}

export interface Mirror {
  store: BlobStore;
  has(name: string): boolean;
}

export async function openMirror(dir: string): Promise<Mirror> {
  const mirror = mirrorDirOf(dir);
  const store = await openBlobStore({ kind: 'disk', dir: mirror });
  return { store, has: (name) => existsSync(join(mirror, name)) };
}

/** Removes what was erased before the time. Its key is gone from all bases and logs that are kept. */
export async function removeErased(db: Db, mirror: Mirror, before: Date): Promise<number> {
  let removed = 0;
  for await (const name of namesOf(db, { erasedBefore: before })) {
    if (!mirror.has(name)) continue;
    await mirror.store.remove(name);
    removed += 1;
  }
  return removed;
}
