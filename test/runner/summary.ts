/** The summary at the end of a run: failures and how to rerun each, skipped tests, the slowest, the count. */

import type { Disturbance, FileRun } from './file-run.ts';
import type { Outcome } from './outcomes.ts';
import { minutes } from './progress.ts';
import { type Tier, tierCommand } from './tiers.ts';

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const slowestShown = 10;
const errorLinesShown = 60;
const outputLinesShown = 40;

export function countOutcomes(runs: FileRun[]): Counts {
  const outcomes = runs.flatMap((run) => run.outcomes);
  const skipped = outcomes.filter((outcome) => outcome.skipped !== null).length;
  const failed = outcomes.filter((outcome) => !outcome.passed).length;
  return {
    passed: outcomes.length - skipped - failed,
    failed: failed + runs.reduce((sum, run) => sum + run.faults.length, 0),
    skipped,
  };
}

export function hasFailed(run: FileRun): boolean {
  return run.faults.length > 0 || run.outcomes.some(({ passed }) => !passed);
}

/** Printed as soon as it happens; the details follow at the end. */
export function nameFailures(run: FileRun): string {
  const failed = run.outcomes.filter(({ passed }) => !passed).map(({ name }) => `✖ ${run.file}: ${name}`);
  return [...failed, ...run.faults.map((fault) => `✖ ${run.file}: ${fault}`)].join('\n');
}

export function describeDisturbance(file: string, { standstillMs, failures }: Disturbance): string {
  return [
    `PostgreSQL gave no answer for ${seconds(standstillMs)} while ${file} ran. That run does not count; it had failed:`,
    indent(failures),
  ].join('\n');
}

/** All details of one failed file. */
export function describeFailures(run: FileRun, seed: string): string {
  const blocks = run.outcomes
    .filter(({ passed }) => !passed)
    .map((outcome) => describeFailure(run, outcome, seed));
  if (run.faults.length > 0) blocks.push(describeFaults(run, seed));
  if (run.output.trim() !== '')
    blocks.push(indent(`It printed:\n${lastLines(run.output.trim(), outputLinesShown)}`));
  return blocks.join('\n');
}

interface Run {
  seed: string;
  elapsedMs: number;
  /** How many files the other tiers have. */
  leftOut: Map<Tier, number>;
}

export function summarise(runs: FileRun[], options: Run): string {
  const failed = runs.filter(hasFailed);
  const { passed, failed: failures, skipped } = countOutcomes(runs);
  const parts = [
    describeSlowest(runs),
    describeSkipped(runs.flatMap((run) => run.outcomes)),
    describeLeftOut(options.leftOut),
    ...runs.flatMap(({ file, disturbed }) => (disturbed ? [describeDisturbance(file, disturbed)] : [])),
    ...(failed.length > 0 ? ['Failures:', ...failed.map((run) => describeFailures(run, options.seed))] : []),
    `${runs.length} files in ${minutes(options.elapsedMs)}, seed ${options.seed}`,
    `${passed} passed, ${failures} failed, ${skipped} skipped`,
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function describeFailure({ file }: FileRun, { name, line, error, ms }: Outcome, seed: string): string {
  // A subtest exists only when the enclosing test runs.
  const outermost = name.split(' > ')[0] ?? name;
  return [
    `✖ ${name}`,
    indent(`${file}${line === null ? '' : `:${line}`}, after ${seconds(ms)}`),
    indent(firstLines(error ?? '', errorLinesShown)),
    indent(`Again: npm test -- ${file} --name ${quote(outermost)}${seedOption(seed)}`),
  ].join('\n');
}

function describeFaults({ file, faults }: FileRun, seed: string): string {
  return [
    `✖ ${file}`,
    ...faults.map((fault) => indent(fault)),
    indent(`Again: npm test -- ${file}${seedOption(seed)}`),
  ].join('\n');
}

function describeSlowest(runs: FileRun[]): string {
  if (runs.length < slowestShown) return '';
  const slowest = [...runs].sort((a, b) => b.seconds - a.seconds).slice(0, slowestShown);
  return [
    'The ten slowest files:',
    ...slowest.map((run) => `  ${seconds(run.seconds * 1000).padStart(7)}  ${run.file}`),
  ].join('\n');
}

/** Grouped by reason; the reason says what to install or which command runs them. */
function describeSkipped(outcomes: Outcome[]): string {
  const byReason = Map.groupBy(
    outcomes.filter(({ skipped }) => skipped !== null),
    ({ skipped }) => skipped ?? '',
  );
  const lines = [...byReason].map(
    ([reason, { length }]) => `  ${counted(length, 'test')}: ${reason || 'no reason given'}`,
  );
  if (lines.length === 0) return '';
  return ['Skipped:', ...lines].join('\n');
}

function describeLeftOut(leftOut: Map<Tier, number>): string {
  if (leftOut.size === 0) return '';
  const commands = [...leftOut].map(([tier, files]) => `${tierCommand[tier]} has ${counted(files, 'file')}`);
  return `Of the other tiers, ${commands.join(', ')}.`;
}

function counted(many: number, noun: string): string {
  return `${many} ${noun}${many === 1 ? '' : 's'}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function seedOption(seed: string): string {
  return ` --seed ${quote(seed)}`;
}

function quote(text: string): string {
  return /^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '    ');
}

function firstLines(text: string, count: number): string {
  const lines = text.split('\n');
  return lines.length <= count ? text : [...lines.slice(0, count), '…'].join('\n');
}

function lastLines(text: string, count: number): string {
  const lines = text.split('\n');
  return lines.length <= count ? text : ['…', ...lines.slice(-count)].join('\n');
}
