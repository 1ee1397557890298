/** The bytes of files: hashed and encrypted while they stream into the store, once for each vault, and read back. */
import type { Db } from '../db/database.ts';
import type { ByteRange } from './blob-store.ts';

export interface Blobs {
  /**
   * Streams to the store what becomes a blob of a vault, which may be known only afterwards: fields of a form follow the
   * file, and a transfer may end meanwhile. Nothing counts before `attach` is committed. Throws AppError: payload_too_large, or service_unavailable when the store is at fault; what the source throws goes through unchanged.
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
}

export interface ReceivedBlob {
  /** SHA-256 of the plain bytes. */
  contentHash: Buffer;
  size: number;
  /** Inside the caller's transaction: the blob of these bytes in this vault, an earlier one or this. May be called again. */
  attach(db: Db, vaultId: string): Promise<{ blobId: string }>;
  /** After the commit, and after every failure: removes the object if it is not the one that was attached. Never throws. */
  settle(outcome: 'committed' | 'failed'): Promise<void>;
}
