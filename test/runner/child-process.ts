/** Starts Node.js in a process group of its own, so that an interrupted run can end it with all its children. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { kill } from './leftovers.ts';
import { root } from './options.ts';

export interface RunnerChild {
  child: ChildProcess;
  /** The exit code, the name of the signal, or why it did not start. */
  ended: Promise<number | string>;
  /** What it printed since the last call, cut in the middle when very long. */
  output(): string;
  /** Ends it with all its children. */
  end(): void;
}

export interface ChildOptions {
  args: string[];
  env: Record<string, string>;
  /** Whether messages go to and fro. */
  ipc?: boolean;
  signal: AbortSignal;
}

const longestDrainMs = 1_000;
const longestOutput = 100_000;

export function startChild({ args, env, ipc = false, signal }: ChildOptions): RunnerChild {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? (['ipc'] as const) : [])],
  });
  const printed = collectOutput();
  child.stdout?.on('data', printed.add);
  child.stderr?.on('data', printed.add);
  const end = () => child.pid !== undefined && kill(-child.pid);
  signal.addEventListener('abort', end);
  const closed = once(child, 'close').catch(() => {});
  const exited = new Promise<number | string>((resolve) => {
    child.on('exit', (exitCode, exitSignal) => resolve(exitCode ?? exitSignal ?? 'unknown'));
    child.on('error', (error) => resolve(error.message));
  });
  const ended = exited.then(async (code) => {
    // A process that the test left running may keep the pipe open.
    await Promise.race([closed, sleep(longestDrainMs, undefined, { ref: false })]);
    signal.removeEventListener('abort', end);
    child.stdout?.destroy();
    child.stderr?.destroy();
    return code;
  });
  return { child, ended, output: printed.take, end };
}

function collectOutput(): { add(chunk: Buffer): void; take(): string } {
  let head = '';
  let tail = '';
  return {
    add(chunk) {
      if (head.length < longestOutput) head += chunk;
      else tail = (tail + chunk).slice(-longestOutput);
    },
    take() {
      const text = tail === '' ? head : `${head}\n…\n${tail}`;
      head = '';
      tail = '';
      return text;
    },
  };
}
