/** The report of an import: what became of each row. */
import { csvField } from './csv-fields.ts';

export interface ReportRow {
  line: number;
  /** Of a file, inside the folder. */
  path?: string;
  id: string | null;
  /** `valid`: in a dry run. `not_sent`: the import ended before. `unknown`: it may exist or not. */
  status: 'created' | 'valid' | 'refused' | 'skipped' | 'unknown' | 'not_sent';
  error: string | null;
}

export type Counts = Record<ReportRow['status'], number>;

export const noCounts = (): Counts => ({
  ...{ created: 0, valid: 0, refused: 0, skipped: 0, unknown: 0, not_sent: 0 },
});

/** `noun`: of rows, in the plural with an s. */
export function countsText({
  counts,
  noun,
  dryRun,
}: {
  counts: Counts;
  noun: string;
  dryRun: boolean;
}): string {
  const many = (count: number) => count.toLocaleString('en-US');
  const nounsAre = (count: number) =>
    count === 1 ? `1 ${noun.slice(0, -1)} is` : `${many(count)} ${noun} are`;
  const parts = [
    dryRun ? `${nounsAre(counts.valid)} valid` : `${nounsAre(counts.created)} imported`,
    `${many(counts.refused)} refused`,
    ...(counts.skipped > 0 ? [`${many(counts.skipped)} skipped`] : []),
    ...(counts.unknown > 0 ? [`${many(counts.unknown)} unknown`] : []),
  ];
  return `${parts.join(', ')}.`;
}

export const reportFormats = ['jsonl', 'csv'] as const;
export type ReportFormat = (typeof reportFormats)[number];

export function reportHead(format: ReportFormat, hasPaths: boolean): string {
  return format === 'csv' ? `line,${hasPaths ? 'path,' : ''}id,status,error\n` : '';
}

export function reportText(rows: ReportRow[], format: ReportFormat): string {
  if (format === 'jsonl') return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  return rows
    .map(({ line, path, id, status, error }) =>
      [String(line), ...(path === undefined ? [] : [path]), id ?? '', status, error ?? '']
        .map(csvField)
        .join(','),
    )
    .map((row) => `${row}\n`)
    .join('');
}
