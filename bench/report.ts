/** The result of a run: a table to read, and a JSON file to keep. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { MachineFacts } from './machine.ts';
import type { Comparison, Figure, Outcome } from './row.ts';

export interface Report {
  machine: MachineFacts;
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

const columns: { title: string; cell(line: Line): string; right?: boolean }[] = [
  { title: 'row', cell: ({ first, result }) => (first ? result.name : '') },
  { title: 'what', cell: ({ first, result }) => (first ? result.what : '') },
  { title: 'figure', cell: ({ comparison }) => comparison?.figure ?? '–' },
  { title: 'peer', cell: ({ comparison }) => quantity(comparison?.peer), right: true },
  { title: 'Holdfast', cell: ({ comparison }) => quantity(comparison?.holdfast), right: true },
  { title: 'ratio', cell: ({ comparison }) => number(comparison?.ratio, 2, '×'), right: true },
  { title: 'to reach', cell: ({ comparison }) => comparison?.toReach ?? '–', right: true },
  { title: 'p99 peer', cell: ({ comparison }) => p99(comparison?.peer), right: true },
  { title: 'p99 Holdfast', cell: ({ comparison }) => p99(comparison?.holdfast), right: true },
  { title: 'others', cell: ({ first, result }) => (first ? percent(result.othersShare) : ''), right: true },
  { title: 'verdict', cell: verdict },
];

export function printTable({ machine, rows }: Report): void {
  const { cores, cpu, memoryGb, node, postgres } = machine;
  console.log(`\n${cores} cores, ${cpu}, ${memoryGb} GB, node ${node}, ${postgres}\n`);
  const lines = [
    columns.map(({ title }) => title),
    ...rows.flatMap(linesOf).map((line) => columns.map(({ cell }) => cell(line))),
  ];
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const print = (line: string[]) => {
    const cells = line.map((text, column) => {
      const width = widths[column] ?? 0;
      return columns[column]?.right ? text.padStart(width) : text.padEnd(width);
    });
    console.log(cells.join('  ').trimEnd());
  };
  const [head = [], ...body] = lines;
  print(head);
  print(widths.map((width) => '─'.repeat(width)));
  for (const line of body) print(line);
  const others = Math.max(...rows.map(({ othersShare }) => othersShare ?? 0));
  if (others > disturbingShare) {
    console.log(`\nOthers used up to ${percent(others)} of this machine: measure again when it rests.`);
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
