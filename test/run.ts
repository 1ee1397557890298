/** `npm test`: one PostgreSQL for the whole run, and a few warm processes side by side that run the test files. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { refreshBuilt } from './runner/built.ts';
import type { FileRun } from './runner/file-run.ts';
import { createLane, type Lane } from './runner/lane.ts';
import { endProcessesUsing } from './runner/leftovers.ts';
import { help, type Options, readOptions, root, UsageError } from './runner/options.ts';
import { bundlePackages } from './runner/packages.ts';
import { createProgressLine } from './runner/progress.ts';
import { type StandstillWatch, watchForStandstill } from './runner/standstill.ts';
import { startStress } from './runner/stress.ts';
import { countOutcomes, describeFailures, hasFailed, nameFailures, summarise } from './runner/summary.ts';
import { startTestServer } from './runner/test-server.ts';
import { fileWeight, rememberTimes } from './runner/times.ts';
import { runUndisturbed } from './runner/undisturbed.ts';
import { withClient } from './support/service/database.ts';
import { preloading } from './support/service/preloading.ts';

process.exitCode = await main();

async function main(): Promise<number> {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options !== 'help') return await runTests(options);
    process.stdout.write(help);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message} See "npm test -- --help".\n`);
    return 2;
  }
}

/** Everything of the run lives in one directory, so that whatever happens it can be taken away as a whole. */
async function runTests(options: Options): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'hf-test-'));
  // PostgreSQL runs as another account where the run is root's, and has to get through.
  chmodSync(directory, 0o711);
  const interruption = new AbortController();
  let interruptedBy: NodeJS.Signals | null = null;
  const interrupt = (signal: NodeJS.Signals) => {
    if (interruptedBy === null) process.stderr.write(`\n${signal}: stopping what was started\n`);
    interruptedBy ??= signal;
    interruption.abort();
  };
  const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
  for (const signal of Object.keys(signals)) process.on(signal, interrupt);
  try {
    const server = await startTestServer({
      directory: join(directory, 'pg'),
      slowCommits: options.stress,
    });
    const stress = options.stress ? startStress(directory) : null;
    // Over a new connection each time, as a test that begins would need one.
    const standstill = watchForStandstill({
      ask: () => withClient({ connectionString: server.url }, (client) => client.query('select 1')),
    });
    try {
      const failed = await runFiles(options, {
        directory,
        serverUrl: server.url,
        standstill,
        signal: interruption.signal,
      });
      return interruptedBy === null ? Number(failed) : signals[interruptedBy as keyof typeof signals];
    } finally {
      stress?.stop();
      await standstill.stop();
      await server.stop();
    }
  } finally {
    // Also after a fault of the runner itself: no file may begin after this.
    interruption.abort();
    await endProcessesUsing(directory, 0);
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

interface Surroundings {
  directory: string;
  serverUrl: string;
  standstill: StandstillWatch;
  signal: AbortSignal;
}

/** Whether something failed. */
async function runFiles(
  options: Options,
  { directory, serverUrl, standstill, signal }: Surroundings,
): Promise<boolean> {
  const startedAt = performance.now();
  const { files, seed, leftOut } = options;
  if (files.length > 1) {
    // Loaded where it is needed: what finds the browser takes longer to load than many a file to run.
    const { describeVersions } = await import('./runner/versions.ts');
    process.stdout.write(`${await describeVersions()}, seed ${seed}\n`);
  }
  await refreshBuilt(files);
  const packages = await bundlePackages();
  const kept = join(directory, 'kept');
  mkdirSync(kept);
  const env = {
    ...environment(options, serverUrl),
    HOLDFAST_TEST_KEPT: kept,
    ...(packages !== null && preloading({ HOLDFAST_TEST_PACKAGES: packages })),
  };
  const progress = createProgressLine(process.stdout);
  const runs: FileRun[] = [];
  const weightTotal = weigh(files);
  const waiting = [...files];
  const tell = () =>
    progress.tell({
      done: runs.length,
      total: files.length,
      failures: countOutcomes(runs).failed,
      weightDone: weigh(runs.map(({ file }) => file)),
      weightTotal,
    });
  const runOne = (file: string, lane: Lane): Promise<FileRun> =>
    lane.run(file, {
      directory: join(directory, String(files.indexOf(file))),
      at: options.at,
      name: options.name,
    });
  const work = async (): Promise<void> => {
    await using lane = createLane({ env, signal });
    for (let file = waiting.shift(); file !== undefined && !signal.aborted; file = waiting.shift()) {
      const next = file;
      const run = await runUndisturbed({
        runFile: () => runOne(next, lane),
        standstill,
        print: progress.print,
        signal,
      });
      if (signal.aborted) return;
      runs.push(run);
      if (hasFailed(run)) progress.print(nameFailures(run));
      tell();
    }
  };
  tell();
  await Promise.all(Array.from({ length: options.jobs }, work));
  progress.end();
  if (signal.aborted) {
    // Whoever stops a run that has failed wants to know why.
    if (runs.some(hasFailed))
      process.stdout.write(`\n${runs.map((run) => describeFailures(run, seed)).join('\n')}\n`);
    return true;
  }
  const { failed, passed, skipped } = countOutcomes(runs);
  const elapsedMs = performance.now() - startedAt;
  process.stdout.write(`\n${summarise(runs, { seed, elapsedMs, leftOut })}\n`);
  if (options.report !== null) await writeFile(options.report, JSON.stringify({ seed, runs }));
  if (options.name === null) await rememberTimes(runs);
  if (failed === 0 && passed + skipped === 0) {
    process.stderr.write('No test was run.\n');
    return true;
  }
  return failed > 0;
}

function environment(
  { seed, zone, tier, stress, required }: Options,
  serverUrl: string,
): Record<string, string> {
  return {
    // Each file is a process that loads much the same: compiled code kept between them takes a third off.
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/holdfast-test/compiled'),
    ...(process.env as Record<string, string>),
    HOLDFAST_TEST_SERVER: serverUrl,
    HOLDFAST_TEST_SEED: seed,
    ...(stress && { HOLDFAST_TEST_LONGEST_END_MS: '30000' }),
    ...(tier === 'long' && { HOLDFAST_TEST_LONG: '1' }),
    ...(zone !== null && { TZ: zone }),
    ...(required !== null && { HOLDFAST_TEST_REQUIRE: required }),
  };
}

function weigh(files: string[]): number {
  return files.reduce((sum, file) => sum + fileWeight(file), 0);
}
