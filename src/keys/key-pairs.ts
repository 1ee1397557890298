/**
 * Fresh secp256k1 key pairs, made in advance by a thread: deriving an address takes 160 µs with this WebAssembly
 * (430 µs with viem), too long for a request to wait for. The stock grows with demand: each time it runs empty, its
 * target size doubles, and it is refilled while the service is mostly idle.
 */
import { Worker } from 'node:worker_threads';
import type { Address } from 'viem';

export interface KeyPair {
  privateKey: Buffer;
  address: Address;
}

export interface KeyPairs {
  take(): Promise<KeyPair>;
  close(): Promise<void>;
}

const smallestStock = 256;
const largestStock = 16_384;
const orderSize = 64;
const pairBytes = 72;
const lookMs = 200;
/** Without an order for so long the thread ends: it occupies some 10 MB, and the next order starts it again. */
const usualRestMs = 5_000;
/** Utilization of the request thread above which the stock is not refilled. */
const busy = 0.4;

export function createKeyPairs({ restMs = usualRestMs } = {}): KeyPairs {
  const stock: Buffer[] = [];
  const waiting: { resolve(pair: KeyPair): void; reject(error: Error): void }[] = [];
  let thread: Worker | null = null;
  let ordered = 0;
  let wanted = smallestStock;
  /** Runs until the stock is full again. */
  let refill: NodeJS.Timeout | null = null;
  let rest: NodeJS.Timeout | undefined;

  function refillWhenIdle(): void {
    if (refill) return;
    let load = performance.eventLoopUtilization();
    refill = setInterval(() => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, load);
      load = now;
      if (stock.length + ordered < wanted && utilization < busy) order(wanted);
      if (stock.length >= wanted) stopRefilling();
    }, lookMs).unref();
  }

  function stopRefilling(): void {
    if (refill) clearInterval(refill);
    refill = null;
  }

  function order(count: number): void {
    thread ??= startThread();
    clearTimeout(rest);
    while (stock.length + ordered < count + waiting.length) {
      thread.postMessage(orderSize);
      ordered += orderSize;
    }
  }

  function startThread(): Worker {
    const started = new Worker(new URL('./key-pairs.thread.ts', import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 },
    });
    started.unref();
    started.on('message', (pairs: Uint8Array) => {
      ordered -= orderSize;
      for (let at = 0; at < pairs.length; at += pairBytes) {
        const pair = Buffer.from(pairs.buffer, at, pairBytes);
        const next = waiting.shift();
        if (next) next.resolve(split(pair));
        else stock.push(pair);
      }
      if (ordered === 0) rest = setTimeout(endThread, restMs).unref();
    });
    started.on('error', (error) => {
      if (thread !== started) return;
      // The next take starts a new thread; current waiters get the error.
      thread = null;
      ordered = 0;
      for (const { reject } of waiting.splice(0)) reject(error as Error);
    });
    return started;
  }

  function endThread(): Promise<number> | undefined {
    const ending = thread;
    thread = null;
    return ending?.terminate();
  }

  return {
    async take() {
      refillWhenIdle();
      const pair = stock.pop();
      if (pair) {
        if (stock.length + ordered < smallestStock / 2) order(smallestStock);
        return split(pair);
      }
      if (thread && waiting.length === 0) wanted = Math.min(wanted * 2, largestStock);
      return new Promise<KeyPair>((resolve, reject) => {
        waiting.push({ resolve, reject });
        order(smallestStock);
        // Keeps the process alive while someone waits.
        thread?.ref();
      }).finally(() => {
        if (waiting.length === 0) thread?.unref();
      });
    },
    async close() {
      stopRefilling();
      clearTimeout(rest);
      for (const pair of stock.splice(0)) pair.fill(0);
      await endThread();
    },
  };
}

function split(pair: Buffer): KeyPair {
  return { privateKey: pair.subarray(0, 32), address: `0x${pair.toString('latin1', 32)}` };
}
