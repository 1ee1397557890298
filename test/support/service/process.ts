/** The service and the command line as real processes, for tests of starting, stopping and being killed. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inheritedPreload } from './preloading.ts';

const main = join(import.meta.dirname, '../../../src/main.ts');

export interface RunningProcess {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves with the exit code, or the name of the signal. */
  exited: Promise<number | string>;
}

export interface RunningService extends RunningProcess {
  url: string;
}

export type Settings = Record<string, string>;

/** A start takes seconds on a free core; several at once on a busy machine take longer. */
const longestStartMs = 60_000;

/** Starts `holdfast serve` and resolves when it is ready; rejects with its output when it ends before. */
export function serve(settings: Settings, startMs?: number): Promise<RunningService> {
  return startProcess(process.execPath, [main, 'serve'], { settings, startMs });
}

/** The same, started like by a newcomer, with all packages as installed. */
export function npmStart(settings: Settings): Promise<RunningService> {
  return startProcess('npm', ['start'], { settings: { HOLDFAST_TEST_PACKAGES: '', ...settings } });
}

/** Starts a command that runs until stopped; resolves when its output matches. */
export async function startHoldfast(
  settings: Settings,
  ready: RegExp,
  ...args: string[]
): Promise<RunningProcess> {
  return (await startUntil(ready, { program: process.execPath, args: [main, ...args], settings })).running;
}

async function startProcess(
  program: string,
  args: string[],
  { settings, startMs }: { settings: Settings; startMs?: number | undefined },
): Promise<RunningService> {
  const { running, match } = await startUntil(/is ready at (\S+)/, { program, args, settings, startMs });
  return { ...running, url: match[1] ?? '' };
}

/** Starts any program; rejects with its output when it ends before the output matches. */
export async function startUntil(
  ready: RegExp,
  {
    program,
    args,
    settings,
    startMs = longestStartMs,
  }: { program: string; args: string[]; settings: Settings; startMs?: number | undefined },
): Promise<{ running: RunningProcess; match: RegExpExecArray }> {
  const child = spawn(program, args, {
    cwd: join(import.meta.dirname, '../../..'),
    env: environment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  let outcome: number | string | null = null;
  const exited = new Promise<number | string>((resolve) =>
    child.on('close', (code, signal) => {
      outcome = code ?? signal ?? 'unknown';
      resolve(outcome);
    }),
  );
  const match = await waitUntil(() => {
    if (outcome !== null) throw new Error(`ended with ${outcome}:\n${stdout}${stderr}`);
    return ready.exec(stdout + stderr);
  }, startMs).catch((error) => {
    // Left running, it would outlive the test.
    child.kill('SIGKILL');
    throw outcome !== null ? error : new Error(`not ready after ${startMs} ms:\n${stdout}${stderr}`);
  });
  return { running: { child, stdout: () => stdout, stderr: () => stderr, exited }, match };
}

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

export function holdfast(settings: Settings, ...args: string[]): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { env: environment(settings) }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

/** Retries until the answer is not null, false or undefined. */
export async function waitUntil<T>(
  ask: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  // Ample: a loaded machine that also emulates the chain's processor took more than ten seconds for one start.
  deadlineMs = 40_000,
): Promise<T> {
  for (const deadline = performance.now() + deadlineMs; performance.now() < deadline; ) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) return answer;
    await sleep(20);
  }
  throw new Error(`nothing within ${deadlineMs} ms: ${ask}`);
}

/** Command lines of all processes that mention this text, except zombies; used to find orphans. */
export function processesMentioning(text: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    })
    .filter((line) => line.includes(text));
}

/** Of the test's own environment the service gets only what a process needs to run at all, and its clock. */
export function environment(settings: Settings): Settings {
  const { TMPDIR, TZ, NODE_COMPILE_CACHE } = process.env;
  return {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '/',
    // Whoever runs the tests may have logged in somewhere.
    XDG_CONFIG_HOME: '/nonexistent',
    ...(TMPDIR && { TMPDIR }),
    ...(TZ && { TZ }),
    ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
    ...inheritedPreload(),
    PORT: '0',
    HOLDFAST_RATE_LIMIT: 'off',
    ...settings,
  };
}

/** Reads what a first start wrote to a file beside its data: it prints only the path. */
export async function firstSecretOf(
  { stdout }: { stdout(): string },
  name: 'first-key' | 'owner-link' = 'first-key',
): Promise<string> {
  const file = new RegExp(`in (\\S+/${name}\\.txt)`).exec(stdout())?.[1];
  if (file === undefined) throw new Error(`no ${name} was given: ${stdout()}`);
  return (await readFile(file, 'utf8')).trim();
}
