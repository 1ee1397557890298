/** The report of an import while it grows, handed to the browser in pieces, which keeps large ones on the disk. */
import { type ReportFormat, type ReportRow, reportHead, reportText } from '../../../src/bulk/report.ts';

export interface ReportFile {
  add(rows: ReportRow[]): void;
  /** What there is so far. */
  as(format: ReportFormat): Promise<Blob>;
}

const partChars = 1024 * 1024;

export function createReportFile(hasPaths: boolean): ReportFile {
  const parts: Blob[] = [];
  let text = '';
  const cut = () => {
    if (text !== '') parts.push(new Blob([text]));
    text = '';
  };
  return {
    add(rows) {
      text += reportText(rows, 'jsonl');
      if (text.length >= partChars) cut();
    },
    async as(format) {
      cut();
      if (format === 'jsonl') return new Blob(parts, { type: 'application/jsonl' });
      const rows: Blob[] = [];
      for (const part of [...parts]) rows.push(new Blob([csvOf(await part.text())]));
      return new Blob([reportHead('csv', hasPaths), ...rows], { type: 'text/csv' });
    },
  };
}

function csvOf(lines: string): string {
  const rows = lines.split('\n').filter((line) => line !== '');
  return reportText(
    rows.map((line) => JSON.parse(line)),
    'csv',
  );
}
