/** A dry run: everything is read and checked, and nothing is sent. */
import type { ReportRow } from './report.ts';
import { leftReport } from './run.ts';
import type { Placed } from './units.ts';

/** Resolves with the reason why not everything was checked; null: everything was. */
export async function checkUnits<R extends Placed>(
  units: AsyncIterable<R[]>,
  report: (rows: ReportRow[], end: number) => Promise<void>,
  stopping: AbortSignal,
): Promise<string | null> {
  for await (const unit of units) {
    await report(
      unit.map((row) => leftReport(row) ?? validReport(row)),
      unit.at(-1)?.end ?? 0,
    );
    if (stopping.aborted) return 'It was interrupted.';
  }
  return null;
}

function validReport(row: Placed): ReportRow {
  const path = 'path' in row ? { path: String(row.path) } : {};
  return { line: row.line, id: null, status: 'valid', error: null, ...path };
}
