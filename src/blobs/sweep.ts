/** Removes objects from the store that no blob needs: those that never got a row, and those whose content was erased. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { BlobStore, StoredObject } from './blob-store.ts';
import { parseObjectName } from './object-names.ts';

/** A younger object may belong to a request that has not committed yet. */
export const orphanAgeMs = 24 * 60 * 60 * 1000;
const pageObjects = 1_000;

export interface Sweep {
  /** Examines the next page of objects; false when that was the last one. */
  step(): Promise<boolean>;
}

export function createSweep({
  db,
  store,
  now = Date.now,
}: {
  db: Db;
  store: BlobStore;
  now?: () => number;
}): Sweep {
  let objects: AsyncIterator<StoredObject> | null = null;

  async function nextPage(): Promise<StoredObject[]> {
    if (!objects) {
      await store.removeUnfinished(orphanAgeMs);
      objects = store.list()[Symbol.asyncIterator]();
    }
    const page: StoredObject[] = [];
    while (page.length < pageObjects) {
      const { done, value } = await objects.next();
      if (done) {
        objects = null;
        break;
      }
      page.push(value);
    }
    return page;
  }

  return {
    async step() {
      try {
        const page = await nextPage();
        for (const { name, state, modifiedAt } of await statesOf(db, page)) {
          const orphan = state === 'unknown' && now() - modifiedAt.getTime() > orphanAgeMs;
          if (orphan || state === 'erased') await store.remove(name);
        }
        return objects !== null;
      } catch (error) {
        // The next round starts over.
        objects = null;
        throw error;
      }
    },
  };
}

/** `foreign`: of a workspace that is not in this database, so it is not ours to remove. */
export type ObjectState = 'kept' | 'erased' | 'unknown' | 'foreign';

export async function statesOf<T extends { name: string }>(
  db: Db,
  objects: T[],
): Promise<(T & { state: ObjectState })[]> {
  const parsed = objects.map(({ name }) => parseObjectName(name));
  const { rows } = await sql<{ state: ObjectState }>`
    select case
      when b.id is not null and b.erased_at is null then 'kept'
      when b.id is not null then 'erased'
      when w.id is not null then 'unknown'
      else 'foreign'
    end as state
    from unnest(
      ${parsed.map((name) => name?.workspaceId ?? '')}::text[],
      ${parsed.map((name) => name?.blobId ?? '')}::text[]
    ) with ordinality as o (workspace_id, id, place)
    left join blobs b on b.workspace_id = o.workspace_id and b.id = o.id
    left join workspaces w on w.id = o.workspace_id
    order by o.place`.execute(db);
  return objects.map((object, place) => ({ ...object, state: rows[place]?.state ?? 'foreign' }));
}
