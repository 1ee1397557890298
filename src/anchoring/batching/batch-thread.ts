/**
 * Builds trees and seals in a thread of their own: 100,000 leaves take a good part of a second, during which the main thread
 * goes on answering requests. The thread starts on first use and ends when it has had nothing to do for a while; after a
 * fault the next order starts a new one.
 */
import { Worker } from 'node:worker_threads';
import type {
  Answer,
  BatchAnswer,
  BatchOrder,
  KeptPathOrder,
  Order,
  PathOrder,
  PathsOrder,
} from './batch.thread.ts';

export interface BatchThread {
  /** Builds and seals a batch. The buffers are transferred, so they are empty here afterwards. */
  build(order: BatchOrder): Promise<BatchAnswer>;
  /** The path from a leaf to the root of its subtree. */
  path(order: PathOrder): Promise<Uint8Array>;
  /** The same from a cached tree; null when the tree is not in the cache. */
  keptPath(order: KeptPathOrder): Promise<Uint8Array | null>;
  /** The same for several leaves of one subtree; the tree is built only once. */
  paths(order: PathsOrder): Promise<Uint8Array[]>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/** Longer than batches and the reads of proofs, for which it keeps trees, are apart in a service that is in use. */
const usualRestMs = 60_000;

export function createBatchThread({ restMs = usualRestMs } = {}): BatchThread {
  const waiting = new Map<number, Waiting>();
  let thread: Worker | null = null;
  let lastId = 0;
  let rest: NodeJS.Timeout | undefined;

  function startThread(): Worker {
    const started = new Worker(new URL('./batch.thread.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 4 },
    });
    started.unref();
    started.on('message', (answer: Answer) => {
      const { resolve, reject } = waiting.get(answer.id) ?? {};
      waiting.delete(answer.id);
      if ('error' in answer) reject?.(answer.error);
      else resolve?.(answer);
    });
    started.on('error', (error) => giveUp(started, error));
    started.on('exit', () => giveUp(started, new Error('the thread that builds batches ended')));
    return started;
  }

  function giveUp(ended: Worker, error: unknown): void {
    if (thread !== ended) return;
    thread = null;
    const left = [...waiting.values()];
    waiting.clear();
    for (const { reject } of left) reject(error);
  }

  function ask(
    order: { build: BatchOrder } | { path: PathOrder } | { keptPath: KeptPathOrder } | { paths: PathsOrder },
    buffers: ArrayBufferLike[],
  ): Promise<Answer> {
    thread ??= startThread();
    const used = thread;
    clearTimeout(rest);
    lastId += 1;
    const id = lastId;
    return new Promise<Answer>((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      // Keeps the process alive while a caller waits.
      used.ref();
      used.postMessage({ id, ...order } satisfies Order, buffers as ArrayBuffer[]);
    }).finally(() => {
      waiting.delete(id);
      if (waiting.size > 0) return;
      used.unref();
      clearTimeout(rest);
      rest = setTimeout(() => void endThread(), restMs).unref();
    });
  }

  async function endThread(): Promise<void> {
    const ending = thread;
    if (ending) giveUp(ending, new Error('the thread that builds batches was closed'));
    await ending?.terminate();
  }

  return {
    async build(order) {
      const answer = await ask({ build: order }, [
        order.leaves.buffer,
        order.privateKeys.buffer,
        order.evidence.buffer,
      ]);
      if (!('built' in answer)) throw new Error('the thread answered something else');
      return answer.built;
    },
    async path(order) {
      const answer = await ask({ path: order }, []);
      if (!('path' in answer)) throw new Error('the thread answered something else');
      return answer.path;
    },
    async keptPath(order) {
      const answer = await ask({ keptPath: order }, []);
      if (!('keptPath' in answer)) throw new Error('the thread answered something else');
      return answer.keptPath;
    },
    async paths(order) {
      const answer = await ask({ paths: order }, []);
      if (!('paths' in answer)) throw new Error('the thread answered something else');
      return answer.paths;
    },
    close() {
      clearTimeout(rest);
      return endThread();
    },
  };
}
