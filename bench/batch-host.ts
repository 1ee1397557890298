/** A process that does nothing but make large batches, as the leading node does, and watches its own event loop. */
import type pg from 'pg';
import { startChild } from './child.ts';

export interface BatchPlan {
  /** To an empty database. */
  connection: pg.ClientConfig;
  /** For the master key. */
  dataDir: string;
  vaults: number;
  /** Of each batch. */
  leaves: number;
  rounds: number;
}

/** One batch: claimed, built, sealed and stored. */
export interface BatchRun {
  seconds: number;
  /** By the clock: other processes hold it up too. */
  longestHoldUpMs: number;
  /** In time of the thread itself. */
  longestTurnCpuMs: number;
  mainThreadCpuMs: number;
}

const longestMs = 300_000;

export async function makeBatches(plan: BatchPlan): Promise<BatchRun[]> {
  const child = startChild<BatchPlan, BatchRun[]>(new URL('./batch-host.process.ts', import.meta.url));
  try {
    return await child.ask(plan, longestMs);
  } finally {
    await child.stop();
  }
}
