/** What keeps the encrypted bytes of blobs: a directory on disk, or a bucket. It knows names and bytes, nothing else. */

export interface BlobStore {
  /**
   * Streams bytes to a new object. It is durable when this resolves; an error or an abort leaves nothing behind. Throws
   * StoreFailed when the store is at fault; what the source of the bytes throws goes through unchanged.
   */
  put(name: string, bytes: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<{ bytes: number }>;
  /** An object, or a part of it whose end is exclusive and may lie behind the object's; throws BlobMissing. */
  get(name: string, range?: ByteRange): AsyncIterable<Uint8Array>;
  /** That there is none is no fault. */
  remove(name: string): Promise<void>;
  /** Everything that is kept, in no order. */
  list(): AsyncIterable<StoredObject>;
  /** Removes what puts that never came to their end have left behind; those younger than `olderThanMs` may still run. */
  removeUnfinished(olderThanMs: number): Promise<number>;
  close(): Promise<void>;
}

export interface PutOptions {
  signal?: AbortSignal | undefined;
  /** Nobody else looks at the pieces: the store may give their memory back as soon as they are written. */
  givenAway?: boolean;
}

/** `end` is exclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface StoredObject {
  name: string;
  bytes: number;
  modifiedAt: Date;
}

/** The store has no object of this name. */
export class BlobMissing extends Error {
  constructor(name: string) {
    super(`there is no object ${name} in the blob store`);
    this.name = 'BlobMissing';
  }
}

/** The store cannot do it now: full, unreachable, or not allowed. */
export class StoreFailed extends Error {
  constructor(what: string, cause: unknown) {
    super(`the blob store cannot ${what}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.name = 'StoreFailed';
  }
}
