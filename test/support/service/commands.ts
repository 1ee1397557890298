/**
 * Runs commands in one process that is kept between them, for tests of what a command does and prints: starting a
 * process for each takes more than a second of processor time. Tests of the process itself use `holdfast` of
 * process.ts.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type CommandResult, environment, type Settings } from './process.ts';

const program = join(import.meta.dirname, 'commands.child.ts');
let kept: ChildProcess | null = null;
let last: Promise<unknown> = Promise.resolve();

/** Concurrent calls run one after the other. */
export function command(settings: Settings, ...args: string[]): Promise<CommandResult> {
  const result = last.then(() => run(settings, args));
  last = result.catch(() => {});
  return result;
}

async function run(settings: Settings, args: string[]): Promise<CommandResult> {
  kept ??= start();
  const child = kept;
  keepWaiting(child, true);
  const mark = randomUUID();
  child.send({ env: environment(settings), args, mark });
  const [stdout, stderr] = await Promise.all([
    readBetween(child.stdout as Readable, mark),
    readBetween(child.stderr as Readable, mark),
  ]);
  keepWaiting(child, false);
  return { code: stdout.code, stdout: stdout.text, stderr: stderr.text };
}

/** It outlives the test file, whose temporary directory comes with each command. */
function start(): ChildProcess {
  const { TMPDIR: _, ...env } = environment({});
  return fork(program, { execArgv: [], env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
}

/** Between commands the test process may exit, and this one with it. */
function keepWaiting(child: ChildProcess, waiting: boolean): void {
  const handles = [child, child.channel, child.stdout, child.stderr] as { ref(): void; unref(): void }[];
  for (const handle of handles) waiting ? handle.ref() : handle.unref();
}

/** The text between the two marks, and the number after the second. */
function readBetween(stream: Readable, mark: string): Promise<{ text: string; code: number }> {
  return new Promise((resolve, reject) => {
    let read = '';
    const look = (chunk: string) => {
      read += chunk;
      const [, text, code] = read.split(mark);
      if (text === undefined || !code?.includes('\n')) return;
      stop();
      resolve({ text, code: Number.parseInt(code, 10) });
    };
    const lose = () => {
      stop();
      reject(new Error(`the process of the commands has ended: ${read}`));
    };
    const stop = () => stream.off('data', look).off('close', lose);
    stream.setEncoding('utf8').on('data', look).on('close', lose);
  });
}
