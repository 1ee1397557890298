/** The command line options of `npm test`. */
import { randomBytes } from 'node:crypto';
import { globSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { requiredPrograms } from '../support/programs/find.ts';
import { isOfTier, type Tier, tiers } from './tiers.ts';

export interface Options {
  /** Relative to the root of the checkout, in the order in which they start. */
  files: string[];
  tier: Tier;
  /** How many files the other tiers have. */
  leftOut: Map<Tier, number>;
  /** Only tests whose name matches. */
  name: string | null;
  jobs: number;
  seed: string;
  /** The time at which each file begins, instead of now. */
  at: Date | null;
  zone: string | null;
  /** Optional programs whose tests fail where they are missing: names, or `all`. */
  required: string | null;
  /** Whether to slow down the machine on purpose. */
  stress: boolean;
  /** The file for the outcome as JSON. */
  report: string | null;
}

/** The message says in a sentence what is wrong with the command line. */
export class UsageError extends Error {}

export const root = resolve(import.meta.dirname, '../..');

export const help = `npm test [-- FILE ...] [options]

  FILE            a test file, a directory or a pattern of any tier; without one, all files of the tier
  --name TEXT     only tests whose name contains TEXT, or matches it as /a regular expression/
  --jobs N        files that run side by side (default: two for each core)
  --tier NAME     ${tiers.join(', ')} (default: everyday)
  --seed S        the seed of random tests (default: a new one each time)
  --at TIME       begin each file at this time, e.g. 2028-02-29T23:59:59.900Z; PostgreSQL goes by it too
  --tz ZONE       run in this time zone, e.g. Europe/Berlin
  --require NAMES fail where an optional program is missing, instead of skipping tests: names, or all
  --stress        with a busy loop on each core, a busy disk and slow commits
  --report FILE   write the outcome as JSON too

npm run test:process    the tier of tests that start programs: PostgreSQL, chains, browsers, other languages
npm run test:long       the tier of tests that take long
npm run test:repeat     the suite again and again, also under stress
`;

/** Two per core: a test spends about half of its time waiting for processes, sockets and disks. */
const jobsPerCore = 2;

export function readOptions(args: string[]): Options | 'help' {
  const { values, positionals } = parse(args);
  if (values.help) return 'help';
  const tier = readTier(values.tier ?? 'everyday');
  const others = positionals.length === 0 ? tiers.filter((other) => other !== tier) : [];
  return {
    tier,
    files: testFiles(positionals, tier),
    leftOut: new Map(others.map((other) => [other, testFiles([], other).length])),
    name: values.name ?? null,
    jobs: positiveInteger('--jobs', values.jobs ?? String(jobsPerCore * availableParallelism())),
    seed: values.seed ?? randomBytes(4).toString('hex'),
    at: values.at === undefined ? null : instant(values.at),
    zone: values.tz === undefined ? null : timeZone(values.tz),
    required: values.require === undefined ? null : known(values.require),
    stress: values.stress ?? false,
    report: values.report === undefined ? null : resolve(values.report),
  };
}

/** All of a tier, unless some are named. */
export function testFiles(patterns: string[], tier: Tier): string[] {
  if (patterns.length > 0) return [...new Set(patterns.flatMap(filesOf))];
  return allFiles().filter((file) => isOfTier(file, tier));
}

/** Tests of the whole service take longest, so they start first, and the short ones fill the end. */
function allFiles(): string[] {
  return [...glob('test/**/*.test.ts'), ...glob('src/**/*.test.ts')];
}

export function readTier(name: string): Tier {
  const tier = tiers.find((one) => one === name);
  if (tier === undefined) throw new UsageError(`--tier takes ${tiers.join(', ')}, not ${name}.`);
  return tier;
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
        tier: { type: 'string' },
        jobs: { type: 'string' },
        seed: { type: 'string' },
        at: { type: 'string' },
        tz: { type: 'string' },
        require: { type: 'string' },
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

function known(programs: string): string {
  const { unknown } = requiredPrograms(programs);
  if (unknown.length > 0) throw new UsageError(`--require knows no program ${unknown.join(', ')}.`);
  return programs;
}
