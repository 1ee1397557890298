/** Stores the encrypted bytes of blobs: in a directory on disk, or in a bucket. It knows only names and bytes. */

export interface BlobStore {
  /**
   * Streams bytes to a new object. The object is durable when this resolves; an error or an abort leaves nothing
   * behind. Throws StoreFailed when the store fails; errors of the byte source pass through unchanged.
   */
  put(name: string, bytes: AsyncIterable<Uint8Array>, options?: PutOptions): Promise<{ bytes: number }>;
  /** Reads an object or a range of it, whose end is exclusive and may exceed the object's; throws BlobMissing. */
  get(name: string, range?: ByteRange): AsyncIterable<Uint8Array>;
  /** A missing object is not an error. */
  remove(name: string): Promise<void>;
  /**
   * The objects of a folder; without one, all but the marker and the journal of erasures. In no particular order.
   */
  list(folder?: string): AsyncIterable<StoredObject>;
  /** Removes the leftovers of interrupted puts; puts younger than `olderThanMs` may still be running. */
  removeUnfinished(olderThanMs: number): Promise<number>;
  close(): Promise<void>;
}

export interface PutOptions {
  signal?: AbortSignal | undefined;
  /** Nobody else reads the pieces: the store may release their memory as soon as they are written. */
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

/** The store cannot do it now: it is full, unreachable, or denies access. */
export class StoreFailed extends Error {
  constructor(what: string, cause: unknown) {
    super(`the blob store cannot ${what}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.name = 'StoreFailed';
  }
}
