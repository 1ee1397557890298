/** The bytes of files: hashed and encrypted while they stream into the store, once per vault, and read back. */
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
   * Streams to the store the bytes of a future blob. The vault may only be known afterwards: form fields follow the
   * file, and a transfer may end meanwhile. Nothing takes effect before `attach` is committed. Throws AppError:
   * payload_too_large, or service_unavailable when the store fails; errors of the source pass through unchanged.
   */
  receive(
    workspaceId: string,
    bytes: AsyncIterable<Uint8Array>,
    limits: ReceiveLimits,
  ): Promise<ReceivedBlob>;
  /**
   * The plain bytes, or a range of them whose end is exclusive. Resolves once the first bytes are there, so that a
   * failure can still be reported. Throws AppError: resource_not_found when the blob was erased, service_unavailable
   * when the store fails. `within`: the caller's transaction, which then needs no second connection.
   */
  read(ref: BlobRef & { size: number }, range?: ByteRange, within?: Db): Promise<AsyncIterable<Buffer>>;
  /**
   * Inside the caller's transaction: locks the blob, asks whether it is still needed, and if not, drops its key. Null
   * when the blob was kept. `settle` removes its object after the commit.
   */
  erase(db: Db, ref: BlobRef, isNeeded: () => Promise<boolean>): Promise<ErasedBlob | null>;
}

export interface ErasedBlob {
  /** Of the plain bytes. */
  bytes: number;
  settle(): Promise<void>;
}

export interface BlobRef {
  workspaceId: string;
  blobId: string;
}

export interface ReceiveLimits {
  maxBytes: number;
  signal?: AbortSignal | undefined;
  /** Nobody else reads the pieces: their memory is released as soon as they are encrypted. */
  givenAway?: boolean;
}

export interface ReceivedBlob {
  /** SHA-256 of the plain bytes. */
  contentHash: Buffer;
  size: number;
  /**
   * Inside the caller's transaction: the blob of these bytes in this vault, either an earlier one or this one. Can be
   * called again.
   */
  attach(db: Db, vaultId: string): Promise<{ blobId: string }>;
  /**
   * Call after the commit, and after every failure: removes the object unless it is the one that was attached. When a
   * failure leaves it unclear whether the commit succeeded, asks the database. Never throws: the sweep does whatever
   * fails here.
   */
  settle(outcome: 'committed' | 'failed'): Promise<void>;
}

export interface BlobsDeps {
  db: Db;
  keyring: Pick<Keyring, 'seal' | 'open'>;
  store: BlobStore;
}

/** Another upload may erase and store the same bytes at the same time, but not more than a few times in a row. */
const attempts = 5;
const retryAfterSeconds = 5;

/** The reference under which a blob's data key is sealed. */
export function blobKeyRef({ workspaceId, blobId }: BlobRef): SecretRef {
  return { workspaceId, purpose: 'blob', id: blobId };
}

/** Only reads. */
export function readingBlobs({
  keyring,
  store,
}: {
  keyring: Pick<Keyring, 'open'>;
  store: BlobStore;
}): Pick<Blobs, 'read'> {
  return {
    async read(ref, range, within) {
      const key = await keyring.open(blobKeyRef(ref), within);
      if (!key) throw new AppError('resource_not_found', 'The content of this file was erased.');
      const stored = store.get(objectName(ref), storedRange(ref.size, range));
      return begun(decryptChunks(stored, key, { size: ref.size, range }));
    },
  };
}

export function createBlobs({ db, keyring, store }: BlobsDeps): Blobs {
  return {
    ...readingBlobs({ keyring, store }),
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
          // The consumer has copied this piece when it asks for the next one.
          if (givenAway) giveBack(piece);
        }
      }
      await store
        .put(objectName(ref), encryptChunks(measured(), key), { signal, givenAway: true })
        .catch(explain('The file could not be stored, and nothing of it was kept'));
      return received(ref, { contentHash: hash.digest(), size, key });
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
      return { bytes: found.size, settle: () => removeErased(ref).catch(leaveToSweep) };
    },
  };

  function received(
    ref: BlobRef,
    { contentHash, size, key }: { contentHash: Buffer; size: number; key: Buffer },
  ): ReceivedBlob {
    const { workspaceId, blobId } = ref;
    let inserted = false;
    let attached: string | null = null;

    /** Takes a lock that `settle` waits for: a commit whose response was lost may still be running. */
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
          // A shared lock, so that the blob cannot be erased before the transaction that needs it commits.
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

/** The sweep finds every object that has no row, or an erased one. */
function leaveToSweep(_error: unknown): void {}

function rowOf(db: Db, { workspaceId, blobId }: BlobRef) {
  return db
    .selectFrom('blobs')
    .select(['id', 'size'])
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', blobId);
}

function lockOf(blobId: string) {
  return sql`hashtextextended(${blobId}, 0)`;
}

/** Resolves once the first piece is there; later failures break the stream. */
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

/** A failure of the store is temporary, and worth a retry; other errors pass through unchanged. */
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
