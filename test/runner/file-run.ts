/** Runs one test file in its own process and temporary directory, and checks what it left behind. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hangingExitCode, type Outcome, readEvents } from './events.ts';
import { endProcessesUsing, entriesOf, kill } from './leftovers.ts';
import { root } from './options.ts';

export interface FileRun {
  file: string;
  outcomes: Outcome[];
  /** Faults of the file as a whole: it died, ran no test, or left something behind. */
  faults: string[];
  /** What it printed, cut in the middle when very long. */
  output: string;
  seconds: number;
  /** The machine's load average of the minute before the file ended. */
  load: number;
  /** What failed before, in a run during which the machine stood still. */
  disturbed?: Disturbance;
}

export interface Disturbance {
  standstillMs: number;
  failures: string;
}

export interface FileOptions {
  /** Used by this file alone; removed afterwards. */
  directory: string;
  env: Record<string, string>;
  name: string | null;
  signal: AbortSignal;
}

/** Per test; longer tests set their own. */
const testTimeoutMs = 120_000;
/** Only for a process that hangs: the longest file takes two minutes, and ten times that under stress. */
const fileTimeoutMs = 1_800_000;
const longestDrainMs = 1_000;
const longestOutput = 100_000;

export async function runFile(file: string, options: FileOptions): Promise<FileRun> {
  const { directory, name, signal } = options;
  const startedAt = performance.now();
  const temporary = join(directory, 't');
  const eventsFile = join(directory, 'events');
  await mkdir(temporary, { recursive: true });
  const { ended, output } = await runProcess({
    args: [
      ...[`--test-timeout=${testTimeoutMs}`, '--test-reporter', join(import.meta.dirname, 'events.ts')],
      ...[
        '--test-reporter-destination',
        eventsFile,
        ...(name === null ? [] : ['--test-name-pattern', pattern(name)]),
      ],
      resolve(root, file),
    ],
    env: { ...options.env, TMPDIR: temporary },
    signal,
  });
  const { outcomes, diagnostics, complete } = await readEvents(eventsFile);
  const faults: string[] = [];
  if (!signal.aborted) {
    if (ended === 'late') faults.push(`It was still running after ${fileTimeoutMs / 60_000} minutes.`);
    else if (ended === hangingExitCode) faults.push('Its tests ended, but its process kept running.');
    // Without any test, node:test does not even start.
    else if (ended === 0 && outcomes.length === 0 && name === null) faults.push('It ran no test.');
    else if (!complete) faults.push(`Its process ended with ${ended} before the tests did.`);
    else if (ended !== 0 && outcomes.every(({ passed }) => passed))
      faults.push([`Its process ended with ${ended}.`, ...diagnostics].join('\n'));
    for (const { pid, command } of await endProcessesUsing(directory))
      faults.push(`It left process ${pid} running: ${command.slice(0, 200)}`);
    for (const entry of await entriesOf(temporary))
      faults.push(`It left ${entry} in the temporary directory.`);
  }
  if (signal.aborted) await endProcessesUsing(directory, 0);
  // The run's own directory is removed at the end, with anything that is still written here.
  await rm(directory, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  const seconds = (performance.now() - startedAt) / 1000;
  return { file, outcomes, faults, output: output(), seconds, load: loadavg()[0] ?? 0 };
}

interface ProcessOptions {
  args: string[];
  env: Record<string, string>;
  signal: AbortSignal;
}

/** In a process group of its own, so that an interrupted run can end it with all its children. */
async function runProcess({ args, env, signal }: ProcessOptions) {
  const child = spawn(process.execPath, args, {
    cwd: root,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = collectOutput();
  child.stdout.on('data', printed.add);
  child.stderr.on('data', printed.add);
  const endGroup = () => child.pid !== undefined && kill(-child.pid);
  signal.addEventListener('abort', endGroup);
  let late = false;
  const limit = setTimeout(() => {
    late = true;
    endGroup();
  }, fileTimeoutMs);
  const closed = once(child, 'close').catch(() => {});
  const code = await new Promise<number | string>((resolve) => {
    child.on('exit', (exitCode, exitSignal) => resolve(exitCode ?? exitSignal ?? 'unknown'));
    child.on('error', (error) => resolve(error.message));
  });
  // A process that the test left running may keep the pipe open.
  await Promise.race([closed, sleep(longestDrainMs, undefined, { ref: false })]);
  clearTimeout(limit);
  signal.removeEventListener('abort', endGroup);
  child.stdout.destroy();
  child.stderr.destroy();
  return { ended: late ? ('late' as const) : code, output: printed.text };
}

function collectOutput(): { add(chunk: Buffer): void; text(): string } {
  let head = '';
  let tail = '';
  return {
    add(chunk) {
      if (head.length < longestOutput) head += chunk;
      else tail = (tail + chunk).slice(-longestOutput);
    },
    text: () => (tail === '' ? head : `${head}\n…\n${tail}`),
  };
}

/** Plain text matches anywhere in a name; node:test takes a regular expression. */
function pattern(name: string): string {
  if (/^\/.*\/\w*$/.test(name)) return name;
  return name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
