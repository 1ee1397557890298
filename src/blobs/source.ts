/** The bytes on their way into a store: told apart from the store when something fails, and left when the signal aborts. */
import { type PutOptions, StoreFailed } from './blob-store.ts';

export interface Source {
  bytes: AsyncIterable<Uint8Array>;
  /** How many went by. */
  count(): number;
  /** What to throw for an error met while they were stored: the source's own if it failed, else that the store did. */
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

/** Ends with the signal's reason even while the source keeps silent. */
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
    // Not waited for: a generator that hangs in its own await would never answer.
    if (!done) void Promise.resolve(iterator.return?.()).catch(() => {});
  }
}
