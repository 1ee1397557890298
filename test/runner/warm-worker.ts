/**
 * A process that runs one test file after the other: what they import is loaded and compiled once. After each file it
 * compares what the next one would find (warm.child.ts).
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { type RunnerChild, startChild } from './child-process.ts';
import type { InProcess } from './file-run.ts';
import type { Outcome } from './outcomes.ts';

/** To the worker. */
export interface FileRequest {
  file: string;
  temporary: string;
  /** By how many milliseconds its clock is ahead, in a worker whose clock is set. */
  clockMs?: number;
}

/** From the worker. */
export type WarmMessage =
  | { ready: true }
  | { outcome: Outcome }
  /** The name of a test that runs now. */
  | { began: string }
  | { ended: { faults: string[]; rssBytes: number } };

export interface WarmWorker {
  run(request: FileRequest): Promise<InProcess>;
  /** Whether it may run another file. */
  isFresh(): boolean;
  retire(): Promise<void>;
}

export interface WarmOptions {
  env: Record<string, string>;
  /** It runs a single file, which may leave the process changed, and take long. */
  alone?: boolean;
  signal: AbortSignal;
}

/** What the tests of a file hold stays, 5 MB for a service: a worker is replaced once it has grown to this. */
const largestRssBytes = 900 * 1024 * 1024;
const longestRetireMs = 5_000;
/** node:test gives tests in tests no limit of their own. No test outside of test/long takes a third of this, even under stress. */
const longestSilenceMs = 600_000;
const longestSilenceAloneMs = 3 * longestSilenceMs;

export function startWarmWorker({ env, alone = false, signal }: WarmOptions): WarmWorker {
  const run = startChild({
    args: [
      ...['--test-reporter', join(import.meta.dirname, 'warm-reporter.ts')],
      ...['--test-reporter-destination', '/dev/null'],
      join(import.meta.dirname, 'warm.child.ts'),
      ...(alone ? ['alone'] : []),
    ],
    env,
    ipc: true,
    signal,
  });
  const ready = Promise.race([once(run.child, 'message'), run.ended]);
  let fresh = true;
  return {
    async run(request) {
      await ready;
      const ran = await runOne(run, request, alone ? longestSilenceAloneMs : longestSilenceMs);
      const hasFailed = ran.faults.length > 0 || ran.outcomes.some(({ passed }) => !passed);
      // Whatever made it fail may fail the next one as well.
      if (alone || hasFailed || ran.rssBytes > largestRssBytes) fresh = false;
      return ran;
    },
    isFresh: () => fresh,
    async retire() {
      if (run.child.connected) run.child.disconnect();
      const limit = setTimeout(run.end, longestRetireMs);
      await run.ended;
      clearTimeout(limit);
    },
  };
}

async function runOne(
  { child, ended, output, end }: RunnerChild,
  request: FileRequest,
  longestSilenceMs: number,
): Promise<InProcess & { rssBytes: number }> {
  const outcomes: Outcome[] = [];
  const done = Promise.withResolvers<{ faults: string[]; rssBytes: number }>();
  let running = request.file;
  let silentFor: string | null = null;
  const limit = setTimeout(() => {
    silentFor = running;
    end();
  }, longestSilenceMs);
  const hear = (message: WarmMessage) => {
    limit.refresh();
    if ('began' in message) running = message.began;
    else if ('outcome' in message) outcomes.push(message.outcome);
    else if ('ended' in message) done.resolve(message.ended);
  };
  child.on('message', hear);
  if (child.connected) child.send(request);
  const died = ended.then((code) => ({
    faults: [
      silentFor === null
        ? `Its process ended with ${code} before the tests did.`
        : `It reported nothing for ${longestSilenceMs / 60_000} minutes. The last test that began: ${silentFor}`,
    ],
    rssBytes: 0,
  }));
  const { faults, rssBytes } = await Promise.race([done.promise, died]);
  clearTimeout(limit);
  child.off('message', hear);
  if (outcomes.length === 0 && faults.length === 0) faults.push('It ran no test.');
  return { outcomes, faults, output: output(), rssBytes };
}
