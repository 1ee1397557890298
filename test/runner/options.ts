/** The command line options of `npm test`. */
import { globSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { longOnly } from '../support/service/long.ts';

export interface Options {
  /** Relative to the root of the checkout, in the order in which they start. */
  files: string[];
  /** How many files of `test/long` this run does not have. */
  leftOut: number;
  /** Only tests whose name matches. */
  name: string | null;
  jobs: number;
  seed: string;
  /** The time at which each file begins, instead of now. */
  at: Date | null;
  zone: string | null;
  /** Whether to slow down the machine on purpose. */
  stress: boolean;
  /** The file for the outcome as JSON. */
  report: string | null;
}

/** The message says in a sentence what is wrong with the command line. */
export class UsageError extends Error {}

export const root = resolve(import.meta.dirname, '../..');

export const help = `npm test [-- FILE ...] [options]

  FILE            a test file, a directory or a pattern; without one, all but test/long
  --name TEXT     only tests whose name contains TEXT, or matches it as /a regular expression/
  --jobs N        files that run side by side (default: two for each core)
  --seed S        the seed of random tests (default: always the same)
  --at TIME       begin each file at this time, e.g. 2028-02-29T23:59:59.900Z; PostgreSQL goes by it too
  --tz ZONE       run in this time zone, e.g. Europe/Berlin
  --stress        with a busy loop on each core, a busy disk and slow commits
  --report FILE   write the outcome as JSON too

npm run test:long       everything, also what takes long
npm run test:repeat     the suite again and again, also under stress
`;

/** Left out unless they are named, or everything is run. */
const longFolder = 'test/long/';

/** Two per core: a test spends about half of its time waiting for processes, sockets and disks. */
const jobsPerCore = 2;

export function readOptions(args: string[]): Options | 'help' {
  const { values, positionals } = parse(args);
  if (values.help) return 'help';
  const isEverything = positionals.length === 0;
  return {
    files: testFiles(positionals),
    leftOut: isEverything && longOnly !== false ? glob(`${longFolder}**/*.test.ts`).length : 0,
    name: values.name ?? null,
    jobs: positiveInteger('--jobs', values.jobs ?? String(jobsPerCore * availableParallelism())),
    seed: values.seed ?? 'holdfast',
    at: values.at === undefined ? null : instant(values.at),
    zone: values.tz === undefined ? null : timeZone(values.tz),
    stress: values.stress ?? false,
    report: values.report === undefined ? null : resolve(values.report),
  };
}

/** Tests of the whole service take longest, so they start first, and the short ones fill the end. */
export function testFiles(patterns: string[]): string[] {
  if (patterns.length > 0) return [...new Set(patterns.flatMap(filesOf))];
  const files = [...glob('test/**/*.test.ts'), ...glob('src/**/*.test.ts')];
  return longOnly === false ? files : files.filter((file) => !file.startsWith(longFolder));
}

function filesOf(pattern: string): string[] {
  const path = relative(root, resolve(pattern));
  const isDirectory = statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() === true;
  const found = glob(isDirectory ? `${path}/**/*.test.ts` : path);
  if (found.length === 0) throw new UsageError(`No test file matches ${pattern}.`);
  return found;
}

function glob(pattern: string): string[] {
  return globSync(pattern, { cwd: root })
    .filter((file) => file.endsWith('.test.ts') && !file.startsWith('node_modules'))
    .sort();
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        name: { type: 'string' },
        jobs: { type: 'string' },
        seed: { type: 'string' },
        at: { type: 'string' },
        tz: { type: 'string' },
        stress: { type: 'boolean' },
        report: { type: 'string' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

export function positiveInteger(option: string, text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new UsageError(`${option} takes a whole number from 1 on, not ${text}.`);
  return Number(text);
}

function instant(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new UsageError(`--at takes an ISO 8601 time, not ${text}.`);
  return time;
}

function timeZone(text: string): string {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return text;
  } catch {
    throw new UsageError(`--tz takes a time zone such as Europe/Berlin, not ${text}.`);
  }
}
