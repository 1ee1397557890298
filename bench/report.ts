/** The result of a run: a table to read, and a JSON file to keep. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { MachineFacts } from './machine.ts';
import type { Figure, Outcome } from './row.ts';

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

const columns: { title: string; cell(result: Result): string; right?: boolean }[] = [
  { title: 'row', cell: ({ name }) => name },
  { title: 'what', cell: ({ what }) => what },
  { title: 'peer', cell: ({ outcome }) => quantity(outcome?.peer), right: true },
  { title: 'Holdfast', cell: ({ outcome }) => quantity(outcome?.holdfast), right: true },
  { title: 'ratio', cell: ({ outcome }) => number(outcome?.ratio, 2, '×'), right: true },
  { title: 'to reach', cell: ({ outcome }) => outcome?.toReach ?? '–', right: true },
  { title: 'p99 peer', cell: ({ outcome }) => number(outcome?.peer?.p99Ms, 1, ' ms'), right: true },
  { title: 'p99 Holdfast', cell: ({ outcome }) => number(outcome?.holdfast.p99Ms, 1, ' ms'), right: true },
  { title: 'others', cell: ({ othersShare }) => percent(othersShare), right: true },
  { title: 'verdict', cell: ({ verdict }) => verdict },
];

export function printTable({ machine, rows }: Report): void {
  const { cores, cpu, memoryGb, node, postgres } = machine;
  console.log(`\n${cores} cores, ${cpu}, ${memoryGb} GB, node ${node}, ${postgres}\n`);
  const lines = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ cell }) => cell(row))),
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

function quantity(figure: Figure | null | undefined): string {
  if (!figure) return '–';
  return figure.unit === 'req/s'
    ? `${Math.round(figure.value).toLocaleString('en')} req/s`
    : `${figure.value.toFixed(2)} ${figure.unit}`;
}

function number(value: number | null | undefined, digits: number, unit: string): string {
  return value === null || value === undefined ? '–' : `${value.toFixed(digits)}${unit}`;
}

function percent(share: number | null): string {
  return share === null ? '–' : `${Math.round(share * 100)} %`;
}
