/** The bytes of files: hashed and encrypted while they stream into the store, once for each vault, and read back. */
import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { insertAll } from '../db/writes.ts';
import type { SecretRef } from '../keys/envelope.ts';
import type { Keyring } from '../keys/keyring.ts';
import { AppError } from '../runtime/errors.ts';
import { newId } from '../runtime/ids.ts';
import { BlobMissing, type BlobStore, type ByteRange, StoreFailed } from './blob-store.ts';
import { decryptChunks, encryptChunks, keyBytes, storedRange } from './cipher.ts';
import { tooLarge } from './digest.ts';
import { giveBack } from './given-away.ts';
import { objectName } from './object-names.ts';

export interface Blobs {
  /**
   * Streams to the store what becomes a blob of a vault, which may be known only afterwards: fields of a form follow the
   * file, and a transfer may end meanwhile. Nothing counts before `attach` is committed. Throws AppError:
   * payload_too_large, or service_unavailable when the store is at fault; what the source throws goes through unchanged.
   */
  receive(
    workspaceId: string,
    bytes: AsyncIterable<Uint8Array>,
    limits: ReceiveLimits,
  ): Promise<ReceivedBlob>;
  /**
   * The plain bytes, or a part of them whose end is exclusive. Before it resolves the first of them are there, so that a
   * fault can still be told. Throws AppError: resource_not_found when the blob was erased, service_unavailable when
   * the store is at fault.
   */
  read(ref: BlobRef & { size: number }, range?: ByteRange): Promise<AsyncIterable<Buffer>>;
  /**
   * Inside the caller's transaction: takes the blob's lock, asks whether something still needs it, and if nothing does
   * drops its key. Null when it was kept. Its object is removed with `settle`, after the commit.
   */
  erase(db: Db, ref: BlobRef, isNeeded: () => Promise<boolean>): Promise<{ settle(): Promise<void> } | null>;
}

export interface BlobRef {
  workspaceId: string;
  blobId: string;
}

export interface ReceiveLimits {
  maxBytes: number;
  signal?: AbortSignal | undefined;
  /** Nobody else looks at the pieces: their memory is given back as soon as they are encrypted. */
  givenAway?: boolean;
}

export interface ReceivedBlob {
  /** SHA-256 of the plain bytes. */
  contentHash: Buffer;
  size: number;
  /** Inside the caller's transaction: the blob of these bytes in this vault, an earlier one or this. May be called again. */
  attach(db: Db, vaultId: string): Promise<{ blobId: string }>;
  /**
   * After the commit, and after every failure: removes the object if it is not the one that was attached. When a failure
   * leaves open whether something was committed, the database is asked. Never throws: the sweep does what could not be
   * done here.
   */
  settle(outcome: 'committed' | 'failed'): Promise<void>;
}

export interface BlobsDeps {
  db: Db;
  keyring: Pick<Keyring, 'seal' | 'open'>;
  store: BlobStore;
}

/** Another upload may erase and store the same bytes at the same moment; more than a few times in a row it cannot. */
const attempts = 5;
const retryAfterSeconds = 5;

/** Where a blob's data key is sealed. */
export function blobKeyRef({ workspaceId, blobId }: BlobRef): SecretRef {
  return { workspaceId, purpose: 'blob', id: blobId };
}

export function createBlobs({ db, keyring, store }: BlobsDeps): Blobs {
  return {
    async receive(workspaceId, bytes, { maxBytes, signal, givenAway = false }) {
      const ref = { workspaceId, blobId: newId('blb') };
      const key = randomBytes(keyBytes);
      const hash = createHash('sha256');
      let size = 0;
      async function* measured() {
        for await (const piece of bytes) {
          size += piece.length;
          if (size > maxBytes) throw tooLarge(maxBytes);
          hash.update(piece);
          yield piece;
          // Whoever asks for the next has copied this one.
          if (givenAway) giveBack(piece);
        }
      }
      await store
        .put(objectName(ref), encryptChunks(measured(), key), { signal, givenAway: true })
        .catch(explain('The file could not be stored, and nothing of it was kept'));
      return received(ref, { contentHash: hash.digest(), size, key });
    },
    async read(ref, range) {
      const key = await keyring.open(blobKeyRef(ref));
      if (!key) throw new AppError('resource_not_found', 'The content of this file was erased.');
      const stored = store.get(objectName(ref), storedRange(ref.size, range));
      return begun(decryptChunks(stored, key, { size: ref.size, range }));
    },
    async erase(db, ref, isNeeded) {
      const found = await rowOf(db, ref).where('erased_at', 'is', null).forUpdate().executeTakeFirst();
      if (!found || (await isNeeded())) return null;
      const { workspaceId, purpose, id } = blobKeyRef(ref);
      await db
        .deleteFrom('secrets')
        .where('workspace_id', '=', workspaceId)
        .where('purpose', '=', purpose)
        .where('id', '=', id)
        .execute();
      await db
        .updateTable('blobs')
        .set({ erased_at: new Date() })
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .execute();
      return { settle: () => removeErased(ref).catch(leaveToSweep) };
    },
  };

  function received(
    ref: BlobRef,
    { contentHash, size, key }: { contentHash: Buffer; size: number; key: Buffer },
  ): ReceivedBlob {
    const { workspaceId, blobId } = ref;
    let inserted = false;
    let attached: string | null = null;

    /** With a lock that `settle` waits for: a commit whose answer was lost may still be under way. */
    async function insert(db: Db, vaultId: string): Promise<boolean> {
      const { rows } = await sql`
        insert into blobs (workspace_id, id, vault_id, content_hash, size)
        select ${workspaceId}, ${blobId}, ${vaultId}, ${contentHash}, ${size}
        from pg_advisory_xact_lock(${lockOf(blobId)})
        on conflict (workspace_id, vault_id, content_hash) where erased_at is null do nothing
        returning id`.execute(db);
      if (rows.length === 0) return false;
      inserted = true;
      await insertAll(db, [keyring.seal(blobKeyRef(ref), key)]);
      return true;
    }

    return {
      contentHash,
      size,
      async attach(db, vaultId) {
        for (let attempt = 1; attempt <= attempts; attempt += 1) {
          if (await insert(db, vaultId)) {
            attached = blobId;
            return { blobId };
          }
          // Shared, so that it cannot be erased before what needs it is committed.
          const earlier = await db
            .selectFrom('blobs')
            .select('id')
            .where('workspace_id', '=', workspaceId)
            .where('vault_id', '=', vaultId)
            .where('content_hash', '=', contentHash)
            .where('erased_at', 'is', null)
            .forShare()
            .executeTakeFirst();
          if (!earlier) continue;
          attached = earlier.id;
          return { blobId: earlier.id };
        }
        throw new Error(`blob ${blobId} was not attached after ${attempts} attempts`);
      },
      async settle(outcome) {
        if (outcome === 'committed' && attached === blobId) return;
        try {
          if (outcome === 'failed' && inserted && (await isCommitted(ref))) return;
          await store.remove(objectName(ref));
        } catch (error) {
          leaveToSweep(error);
        }
      },
    };
  }

  function isCommitted(ref: BlobRef): Promise<boolean> {
    return db.transaction().execute(async (db) => {
      await sql`select pg_advisory_xact_lock(${lockOf(ref.blobId)})`.execute(db);
      return (await rowOf(db, ref).executeTakeFirst()) !== undefined;
    });
  }

  async function removeErased(ref: BlobRef): Promise<void> {
    const erased = await rowOf(db, ref).where('erased_at', 'is not', null).executeTakeFirst();
    if (erased) await store.remove(objectName(ref));
  }
}

/** It finds whatever has no row, or an erased one. */
function leaveToSweep(_error: unknown): void {}

function rowOf(db: Db, { workspaceId, blobId }: BlobRef) {
  return db.selectFrom('blobs').select('id').where('workspace_id', '=', workspaceId).where('id', '=', blobId);
}

function lockOf(blobId: string) {
  return sql`hashtextextended(${blobId}, 0)`;
}

/** The first piece is there when it resolves; later faults break the stream. */
async function begun(pieces: AsyncIterable<Buffer>): Promise<AsyncIterable<Buffer>> {
  const failed = explain('The content cannot be read');
  const iterator = pieces[Symbol.asyncIterator]();
  let first: IteratorResult<Buffer> | null = await iterator.next().catch(failed);
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const waiting = first;
        first = null;
        return waiting ?? iterator.next().catch(failed);
      },
      async return() {
        await iterator.return?.();
        return { done: true, value: undefined };
      },
    }),
  };
}

/** What the store is at fault for passes, and is worth another try; anything else goes through as it is. */
function explain(message: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof StoreFailed || error instanceof BlobMissing)) throw error;
    throw new AppError(
      'service_unavailable',
      `${message}: the blob store is full or unavailable, or has lost it. Try again later.`,
      { cause: error, retryAfterSeconds },
    );
  };
}
