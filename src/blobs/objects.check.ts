/** Checks that the blob store has only objects of blobs, except for those that the sweep has yet to remove. */

import type { Db } from '../db/database.ts';
import type { Finding, Look, Pass, Range } from '../runtime/check.ts';
import { BlobMissing, type BlobStore, type StoredObject } from './blob-store.ts';
import { parseObjectName } from './object-names.ts';
import { type ObjectState, orphanAgeMs, statesOf } from './sweep.ts';

export interface ObjectsCheckDeps {
  db: Db;
  blobStore(): Promise<BlobStore>;
  now?: () => number;
}

/** The sweep runs every hour. */
const graceMs = orphanAgeMs + 2 * 60 * 60 * 1000;
const pageObjects = 1_000;

/**
 * The store is walked once, in its own order. A page is identified by its number, and kept if it must be looked at
 * again.
 */
export function objectsPass({ db, blobStore, now = Date.now }: ObjectsCheckDeps): Pass {
  let walk: AsyncIterator<StoredObject> | null = null;
  const suspects = new Map<number, StoredObject[]>();

  async function nextPage(): Promise<StoredObject[]> {
    walk ??= (await blobStore()).list()[Symbol.asyncIterator]();
    const page: StoredObject[] = [];
    while (page.length < pageObjects) {
      const { done, value } = await walk.next();
      if (done) break;
      page.push(value);
    }
    return page;
  }

  async function look({ after, until }: Range): Promise<Look> {
    const number = after === undefined ? 1 : (after as number) + 1;
    const again = until !== undefined;
    const page = again ? (suspects.get(number) ?? []) : await nextPage();
    suspects.delete(number);
    const old = page.filter(({ modifiedAt }) => now() - modifiedAt.getTime() > graceMs);
    const states = old.length === 0 ? [] : await statesOf(db, old);
    const orphans = states.filter(({ state }) => state !== 'kept');
    if (!again && orphans.length > 0) suspects.set(number, orphans);
    return {
      rows: page.length,
      last: page.length === 0 ? undefined : number,
      findings: again ? await stillThere(orphans) : orphans.map(orphan),
    };
  }

  async function stillThere(orphans: Orphan[]): Promise<Finding[]> {
    const store = await blobStore();
    const there: Finding[] = [];
    for (const object of orphans) if (await exists(store, object)) there.push(orphan(object));
    return there;
  }

  return {
    what: 'objects of the blob store',
    // Listing a bucket twice would take too long.
    count: async () => 0,
    look,
  };
}

type Orphan = StoredObject & { state: ObjectState };

async function exists(store: BlobStore, { name }: Orphan): Promise<boolean> {
  // The store cannot be asked for a name that it would not write.
  if (!parseObjectName(name)) return true;
  try {
    for await (const _ of store.get(name, { start: 0, end: 1 })) break;
    return true;
  } catch (error) {
    if (error instanceof BlobMissing) return false;
    throw error;
  }
}

function orphan({ name, bytes, state }: Orphan): Finding {
  const foreign = state === 'foreign';
  return {
    rule: foreign ? 'object_foreign' : 'object_without_blob',
    ids: { name },
    message: foreign
      ? `The blob store has ${name} (${bytes} bytes), which belongs to no workspace of this database.`
      : `The blob store has had ${name} (${bytes} bytes) for more than a day, but no blob needs it.`,
    advice: foreign
      ? 'If another installation uses the same location, give each its own directory, bucket or prefix. Otherwise remove it.'
      : 'The loop blob-sweep removes such objects: check in /readyz and in the log why it did not, or remove it.',
  };
}
