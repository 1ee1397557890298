/** The result of a run: a table to read, and a JSON file to keep. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Column, printColumns } from './columns.ts';
import { printCpuTable } from './cpu-table.ts';
import type { MachineFacts } from './machine.ts';
import type { Comparison, Figure, Outcome } from './row.ts';

export interface Report {
  machine: MachineFacts;
  /** Of the two sides. */
  titles: { peer: string; holdfast: string };
  /** What takes the place of the peers: a commit, or a folder with a checkout. */
  against: { hash: string; subject: string } | { folder: string } | null;
  rows: Result[];
}

export interface Result {
  name: string;
  what: string;
  verdict: 'ok' | 'below' | 'failed';
  outcome: Outcome | null;
  /** Why it failed. */
  fault: string | null;
  /** How much of the machine others used meanwhile; null when nobody knows. */
  othersShare: number | null;
}

/** From here on the figures are not worth much: on two cores every process of ours needs its share. */
const disturbingShare = 0.15;

const folder = join(import.meta.dirname, 'results');

/** One line of the table: a comparison of a row; the first line of a row also says what the row is. */
interface Line {
  result: Result;
  comparison: Comparison | null;
  first: boolean;
}

const columnsFor = ({ against, titles: { peer, holdfast } }: Report): Column<Line>[] => {
  // Between two commits there is nothing to reach, and what the rows say of themselves is about their peers.
  const besidePeers = (column: Column<Line>) => (against ? [] : [column]);
  return [
    { title: 'row', cell: ({ first, result }) => (first ? result.name : '') },
    ...besidePeers({ title: 'what', cell: ({ first, result }) => (first ? result.what : '') }),
    { title: 'figure', cell: ({ comparison }) => comparison?.figure ?? '–' },
    { title: peer, cell: ({ comparison }) => quantity(comparison?.peer), right: true },
    { title: holdfast, cell: ({ comparison }) => quantity(comparison?.holdfast), right: true },
    { title: 'ratio', cell: ({ comparison }) => number(comparison?.ratio, 2, '×'), right: true },
    ...besidePeers({ title: 'to reach', cell: ({ comparison }) => comparison?.toReach ?? '–', right: true }),
    { title: `p99 ${peer}`, cell: ({ comparison }) => p99(comparison?.peer), right: true },
    { title: `p99 ${holdfast}`, cell: ({ comparison }) => p99(comparison?.holdfast), right: true },
    { title: 'others', cell: ({ first, result }) => (first ? percent(result.othersShare) : ''), right: true },
    { title: 'verdict', cell: verdict },
  ];
};

export function printTable(report: Report): void {
  const { machine, rows } = report;
  const { cores, cpu, memoryGb, node, postgres } = machine;
  console.log(`\n${cores} cores, ${cpu}, ${memoryGb} GB, node ${node}, ${postgres}\n`);
  printColumns(columnsFor(report), rows.flatMap(linesOf));
  printCpuTable(report);
  const others = Math.max(...rows.map(({ othersShare }) => othersShare ?? 0));
  if (others > disturbingShare) {
    console.log(
      `\nOthers used up to ${percent(others)} of this machine: only the CPU times are worth something, measure again when it rests.`,
    );
  }
}

/** Returns the path of the file, as seen from the working directory. */
export async function saveReport(report: Report): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${report.machine.date.replaceAll(':', '-')}.json`);
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
  return relative(process.cwd(), file);
}

/** A row that failed has a line too. */
function linesOf(result: Result): Line[] {
  const comparisons = result.outcome?.comparisons ?? [null];
  return comparisons.map((comparison, position) => ({ result, comparison, first: position === 0 }));
}

function verdict({ result, comparison }: Line): string {
  if (comparison === null) return result.verdict;
  if (comparison.reached === null) return '–';
  return comparison.reached ? 'ok' : 'below';
}

function quantity(figure: Figure | string | null | undefined): string {
  if (!figure) return '–';
  if (typeof figure === 'string') return figure;
  const { value, unit } = figure;
  if (unit.endsWith('/s')) return `${Math.round(value).toLocaleString('en')} ${unit}`;
  return `${value.toFixed(digits[unit] ?? 2)} ${unit}`;
}

/** Other than two. */
const digits: Record<string, number> = { ms: 1, µs: 0, B: 0, gas: 1, statements: 4 };

function p99(figure: Figure | string | null | undefined): string {
  return typeof figure === 'object' ? number(figure?.p99Ms, 1, ' ms') : '–';
}

function number(value: number | null | undefined, digits: number, unit: string): string {
  return value === null || value === undefined ? '–' : `${value.toFixed(digits)}${unit}`;
}

function percent(share: number | null): string {
  return share === null ? '–' : `${Math.round(share * 100)} %`;
}
