/** The bytes going into a store: tells their errors from the store's, and stops reading when the signal aborts. */
import { type PutOptions, StoreFailed } from './blob-store.ts';

export interface Source {
  bytes: AsyncIterable<Uint8Array>;
  /** The number of bytes read so far. */
  count(): number;
  /** The error to throw for a failed put: the source's own error if the source failed, otherwise StoreFailed. */
  blame(error: unknown): unknown;
}

export function sourceOf(bytes: AsyncIterable<Uint8Array>, { signal }: PutOptions = {}): Source {
  let count = 0;
  let failed: { error: unknown } | null = null;

  async function* watched() {
    try {
      for await (const piece of signal ? untilAborted(bytes, signal) : bytes) {
        count += piece.length;
        yield piece;
      }
    } catch (error) {
      failed = { error };
      throw error;
    }
  }

  return {
    bytes: watched(),
    count: () => count,
    blame: (error) =>
      failed ? failed.error : error instanceof StoreFailed ? error : new StoreFailed('write', error),
  };
}

/** Ends with the signal's reason even while the source yields nothing. */
async function* untilAborted(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal) {
  signal.throwIfAborted();
  const iterator = bytes[Symbol.asyncIterator]();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  aborted.catch(() => {});
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  let done = false;
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), aborted]);
      if (next.done) {
        done = true;
        return;
      }
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // Not awaited: a generator that hangs in its own await would never return.
    if (!done) void Promise.resolve(iterator.return?.()).catch(() => {});
  }
}
