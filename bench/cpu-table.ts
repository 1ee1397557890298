/** The second table of a run: CPU time for one operation, by process, a line for each side that has processes. */
import { type Column, printColumns } from './columns.ts';
import type { Report } from './report.ts';
import type { Comparison, Figure } from './row.ts';
import { type CpuMicros, type Part, totalMicros } from './spent.ts';
import { median } from './turns.ts';

interface Line {
  row: string;
  figure: string;
  side: string;
  cpu: CpuMicros;
  /** To the other side, by round. */
  ratios: number[];
}

const columns: Column<Line>[] = [
  { title: 'CPU µs per operation', cell: ({ row }) => row },
  { title: 'figure', cell: ({ figure }) => figure },
  { title: 'side', cell: ({ side }) => side },
  during('service', 'service'),
  during('PostgreSQL', 'postgres'),
  during('chain', 'chain'),
  afterwards('afterwards: service', 'service'),
  afterwards('PostgreSQL', 'postgres'),
  afterwards('chain', 'chain'),
  { title: 'sum', cell: ({ cpu }) => micros(totalMicros(cpu)), right: true },
  { title: 'ratio (of rounds)', cell: ({ ratios }) => spread(ratios), right: true },
  during('client', 'client'),
];

/** Prints nothing when no row has such figures. */
export function printCpuTable({ rows, titles }: Pick<Report, 'rows' | 'titles'>): void {
  const lines = rows.flatMap(({ name, outcome }) =>
    (outcome?.comparisons ?? []).flatMap((comparison) => linesOf(name, comparison, titles)),
  );
  if (lines.length === 0) return;
  console.log();
  printColumns(columns, lines);
}

function linesOf(row: string, { figure, peer, holdfast }: Comparison, titles: Report['titles']): Line[] {
  const [theirs, ours] = [cpuOf(peer), cpuOf(holdfast)];
  const ratios = ours?.rounds.map((micros, round) => micros / (theirs?.rounds[round] ?? Number.NaN)) ?? [];
  return [
    ...(theirs ? [{ row, figure, side: titles.peer, cpu: theirs, ratios: [] }] : []),
    ...(ours ? [{ row, figure, side: titles.holdfast, cpu: ours, ratios: theirs ? ratios : [] }] : []),
  ];
}

function cpuOf(figure: Figure | string | null): CpuMicros | null {
  return typeof figure === 'object' ? (figure?.cpuMicros ?? null) : null;
}

function during(title: string, part: Part): Column<Line> {
  return { title, cell: ({ cpu }) => micros(cpu[part]), right: true };
}

function afterwards(title: string, part: Part): Column<Line> {
  return { title, cell: ({ cpu }) => micros(cpu.afterwards[part]), right: true };
}

/** The median, and between which values it is one. */
function spread(ratios: number[]): string {
  if (ratios.length === 0) return '';
  const text = `${median(ratios).toFixed(2)}×`;
  if (ratios.length === 1) return text;
  return `${text} (${Math.min(...ratios).toFixed(2)} … ${Math.max(...ratios).toFixed(2)})`;
}

/** Three digits that say something. */
function micros(value: number | undefined): string {
  if (value === undefined) return '–';
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(value >= 10 ? 1 : 2);
}
