/**
 * The marker in the blob store: it shows that the store is the one of this installation. Without it, two nodes could each
 * keep files on a disk of their own, where the other does not find them, or write below a mount point that is empty.
 */
import { randomUUID } from 'node:crypto';
import { text as readText } from 'node:stream/consumers';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { OperatorError } from '../runtime/errors.ts';
import { BlobMissing, type BlobStore, StoreFailed } from './blob-store.ts';
import { markerName } from './object-names.ts';

/** `foreign`: it is not the store of this installation. `away`: the store cannot be read now. */
export type StoreState = 'up' | 'foreign' | 'away';

export interface MarkerDeps {
  db: Db;
  store: BlobStore;
  log: { warn(details: object, message: string): void };
}

/** Writes the marker at the first start. Throws if it was written, and this store does not have it. Returns its text. */
export async function requireMarker({ db, store, log }: MarkerDeps): Promise<string> {
  const { rows } = await sql<{ id: string; written: boolean }>`
    insert into blob_marker (id) values (${randomUUID()})
    on conflict (is_only) do update set id = blob_marker.id returning id, written`.execute(db);
  const [marker] = rows;
  if (!marker) throw new Error('the marker was not stored');
  try {
    if (!marker.written) {
      await store.put(markerName, bytesOf(marker.id));
      await sql`update blob_marker set written = true where id = ${marker.id}`.execute(db);
      return marker.id;
    }
    if ((await readMarker(store)) === marker.id) return marker.id;
  } catch (error) {
    // Only the bytes of files need it; /readyz goes on looking.
    if (!(error instanceof StoreFailed)) throw error;
    log.warn({ err: error }, 'the blob store cannot be reached');
    return marker.id;
  }
  throw new OperatorError(
    `The blob store is not the one of this installation: it lacks the object "${markerName}" with the text ${marker.id}. All nodes need the same store, so set HOLDFAST_BLOB_URL to a bucket or to a directory that they share. If you moved the store, copy this object too.`,
  );
}

/** How long an answer counts: probes come every few seconds, and a bucket charges for each look. */
const holdsMs = 10_000;

/** Looks whether the store still has the marker. */
export function watchMarker(
  store: BlobStore,
  id: string,
  now = () => performance.now(),
): () => Promise<StoreState> {
  let known: { state: Promise<StoreState>; until: number } | null = null;
  const look = () =>
    readMarker(store).then(
      (found): StoreState => (found === id ? 'up' : 'foreign'),
      (): StoreState => 'away',
    );
  return () => {
    if (!known || known.until <= now()) known = { state: look(), until: now() + holdsMs };
    return known.state;
  };
}

async function readMarker(store: BlobStore): Promise<string | null> {
  try {
    return await readText(store.get(markerName));
  } catch (error) {
    if (error instanceof BlobMissing) return null;
    throw error;
  }
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
