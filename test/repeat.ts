/** `npm run test:repeat -- N`: the suite N times in fresh processes, each with another seed, to find tests that fail by luck. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { FileRun } from './runner/file-run.ts';
import { positiveInteger, readTier, root, testFiles, UsageError } from './runner/options.ts';
import { minutes } from './runner/progress.ts';
import { describeFailures, hasFailed } from './runner/summary.ts';
import type { Tier } from './runner/tiers.ts';

const help = `npm run test:repeat -- N [options]

  N             how often
  --stress      with a busy loop on each core, a busy disk and slow commits
  --tier NAME   everyday, process or long (default: everyday)
  --only GLOB   only these test files; may be given several times
  --seed S      the runs have the seeds S-1, S-2 … (default: S is the time)
`;

interface RepeatOptions {
  times: number;
  stress: boolean;
  tier: Tier;
  only: string[];
  seed: string;
}

interface Round {
  number: number;
  seed: string;
  ms: number;
  exitCode: number;
  runs: FileRun[];
}

process.exitCode = await main();

async function main(): Promise<number> {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options !== 'help') return await repeat(options);
    process.stdout.write(help);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message} See "npm run test:repeat -- --help".\n`);
    return 2;
  }
}

function readOptions(args: string[]): RepeatOptions | 'help' {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        stress: { type: 'boolean', default: false },
        tier: { type: 'string', default: 'everyday' },
        only: { type: 'string', multiple: true, default: [] },
        seed: { type: 'string', default: String(Date.now()) },
      },
    });
    if (values.help) return 'help';
    if (positionals.length !== 1) throw new UsageError('It takes one number: how often the suite runs.');
    const tier = readTier(values.tier);
    testFiles(values.only, tier);
    return { times: positiveInteger('N', positionals[0] ?? ''), ...values, tier };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError((error as Error).message);
  }
}

async function repeat({ times, stress, tier, only, seed }: RepeatOptions): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'hf-repeat-'));
  const rounds: Round[] = [];
  const interruption = new AbortController();
  const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
  for (const signal of Object.keys(signals)) process.on(signal, () => interruption.abort(signal));
  const { signal } = interruption;
  try {
    for (let number = 1; number <= times && !signal.aborted; number += 1) {
      process.stdout.write(`Run ${number} of ${times}, seed ${seed}-${number}\n`);
      const report = join(directory, `${number}.json`);
      const round = await runOnce({
        number,
        seed: `${seed}-${number}`,
        report,
        args: [...only, '--tier', tier, ...(stress ? ['--stress'] : [])],
        signal,
      });
      if (!signal.aborted) rounds.push(round);
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  process.stdout.write(`\n${describeRounds(rounds, stress)}\n`);
  if (signal.aborted) return signals[signal.reason as keyof typeof signals];
  return rounds.every(isGreen) ? 0 : 1;
}

interface RunRequest {
  number: number;
  seed: string;
  report: string;
  args: string[];
  /** Aborted with the name of the signal that the run is to get. */
  signal: AbortSignal;
}

async function runOnce({ number, seed, report, args, signal }: RunRequest): Promise<Round> {
  const startedAt = performance.now();
  const child = spawn(
    process.execPath,
    [join(root, 'test/run.ts'), ...args, '--seed', seed, '--report', report],
    {
      stdio: 'inherit',
    },
  );
  // In a terminal it gets the signal as well; a second one changes nothing.
  signal.addEventListener('abort', () => child.kill(signal.reason), { once: true });
  const exitCode = await new Promise<number>((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
  return { number, seed, exitCode, ms: performance.now() - startedAt, runs: readRuns(report) };
}

/** In a series it counts as red: whoever looks for luck wants to see it. */
function ranAgain(runs: FileRun[]): string[] {
  return runs.filter(({ disturbed }) => disturbed !== undefined).map(({ file }) => file);
}

function isGreen({ exitCode, runs }: Round): boolean {
  return exitCode === 0 && ranAgain(runs).length === 0;
}

/** A run that did not come to its end has written none. */
function readRuns(report: string): FileRun[] {
  try {
    return JSON.parse(readFileSync(report, 'utf8')).runs;
  } catch {
    return [];
  }
}

/** Each failure with its run, seed and load, then one line for each run, then the count. */
function describeRounds(rounds: Round[], stress: boolean): string {
  const failures = rounds.flatMap(({ number, seed, runs }) =>
    runs
      .filter(hasFailed)
      .map(
        (run) =>
          `Run ${number}, seed ${seed}, load ${run.load.toFixed(1)} on ${availableParallelism()} cores${stress ? ', under stress' : ''}:\n` +
          describeFailures(run, seed),
      ),
  );
  const lines = rounds.map(({ number, seed, ms, exitCode, runs }) => {
    const again = ranAgain(runs);
    const outcome = exitCode === 0 ? (again.length === 0 ? 'green' : 'red') : `exit code ${exitCode}`;
    const standstill = again.length === 0 ? '' : `  again after a standstill: ${again.join(', ')}`;
    return `  run ${number}  ${minutes(ms).padStart(6)}  ${outcome}  seed ${seed}${standstill}`;
  });
  const green = rounds.filter(isGreen).length;
  return [...failures, lines.join('\n'), `${green} of ${rounds.length} runs green`].join('\n\n');
}
