/**
 * Runs an import: sends units, several at a time, and reports their rows in the order of the input. Before a request is sent,
 * the journal knows its key; when it is answered, also what it made. An import that was interrupted anywhere therefore
 * continues: what was answered is not sent again, and the rest is sent under the same Idempotency-Key.
 */
import type { ReportRow } from './report.ts';
import { isGood, type Left, type Placed } from './units.ts';

export type JournalState =
  /** Sent first at this time (in ms); the answer is not known. */
  | { state: 'sent'; at: number }
  /** Refused as a whole, and sent in two parts since. */
  | { state: 'split' }
  | { state: 'made'; ids: string[] };

export interface Journal {
  find(key: string): Promise<JournalState | null>;
  /** Resolves when it is kept. `part`: of the input, such as the path of a file. */
  note(key: string, state: JournalState, part?: string): Promise<void>;
}

/** What was made of a part of the input, and the key of the request. */
export interface Made {
  key: string;
  ids: string[];
}

/** What one request made, in the order of its rows, or why the service refused it. */
export type Sent = { ids: string[] } | { refused: string };

/** Nothing more can be sent, for this reason; running the import again may help. */
export class ImportStopped extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ImportStopped';
  }
}

export interface ImportRun<R extends Placed> {
  units: AsyncIterable<R[]>;
  keyOf(rows: Exclude<R, Left>[]): string;
  /** What the journal also knows a row by. */
  partOf?(row: Exclude<R, Left>): string;
  /** Throws ImportStopped. */
  send(rows: Exclude<R, Left>[], key: string): Promise<Sent>;
  journal: Journal;
  /** Requests at a time. */
  concurrency: number;
  /** Whether to send again what was sent so long ago that the service does not know the key any more. */
  resendUnknown: boolean;
  /** In the order of the input. */
  report(rows: ReportRow[], end: number): Promise<void>;
  stopping: AbortSignal;
  now(): number;
}

/** The service repeats an answer for 24 hours; with an hour for clocks that differ. */
const keyLastsMs = 23 * 60 * 60 * 1_000;

const unknown =
  'It was sent more than 23 hours ago, and the answer never arrived: it may exist. Look for it; if it does not, import again and resend what is unknown (--resend-unknown).';

/** Resolves with the reason why not everything was tried; null: everything was. */
export async function runImport<R extends Placed>(run: ImportRun<R>): Promise<string | null> {
  const { journal, stopping } = run;
  let stopped: string | null = null;

  async function settle(rows: Exclude<R, Left>[]): Promise<ReportRow[]> {
    const key = run.keyOf(rows);
    const part = rows[0] && run.partOf?.(rows[0]);
    const known = await journal.find(key);
    if (known?.state === 'made') return made(rows, known.ids);
    if (known?.state === 'split') return halves(rows);
    if (known && !run.resendUnknown && run.now() - known.at > keyLastsMs)
      return all(rows, 'unknown', unknown);
    if (stopped !== null || stopping.aborted) return all(rows, 'not_sent', null);
    if (known === null) await journal.note(key, { state: 'sent', at: run.now() }, part);
    const sent = await run.send(rows, key);
    if ('ids' in sent) {
      await journal.note(key, { state: 'made', ids: sent.ids }, part);
      return made(rows, sent.ids);
    }
    if (rows.length === 1) return all(rows, 'refused', sent.refused);
    // Before the parts are sent: were it accepted as a whole another time, they would exist twice.
    await journal.note(key, { state: 'split' });
    return halves(rows);
  }

  async function halves(rows: Exclude<R, Left>[]): Promise<ReportRow[]> {
    const middle = rows.length >> 1;
    const first = await tried(rows.slice(0, middle));
    return [...first, ...(await tried(rows.slice(middle)))];
  }

  async function tried(rows: Exclude<R, Left>[]): Promise<ReportRow[]> {
    if (rows.length === 0) return [];
    try {
      return await settle(rows);
    } catch (error) {
      if (!(error instanceof ImportStopped)) throw error;
      stopped ??= error.message;
      return all(rows, 'not_sent', null);
    }
  }

  async function unitReport(unit: R[]): Promise<ReportRow[]> {
    const sent = await tried(unit.filter((row) => isGood(row)));
    let next = 0;
    return unit.map((row) => leftReport(row) ?? (sent[next++] as ReportRow));
  }

  const waiting: { report: Promise<ReportRow[]>; end: number }[] = [];
  const flush = async () => {
    const first = waiting.shift();
    if (first) await run.report(await first.report, first.end);
  };
  try {
    for await (const unit of run.units) {
      const report = unitReport(unit);
      report.catch(() => {});
      waiting.push({ report, end: unit.at(-1)?.end ?? 0 });
      if (waiting.length >= run.concurrency) await flush();
      if (stopped !== null || stopping.aborted) break;
    }
    while (waiting.length > 0) await flush();
  } catch (error) {
    // What was sent before the input broke off is in.
    try {
      while (waiting.length > 0) await flush();
    } catch {}
    throw error;
  } finally {
    await Promise.allSettled(waiting.map(({ report }) => report));
  }
  return stopping.aborted ? (stopped ?? 'It was interrupted.') : stopped;
}

export function leftReport(row: Placed): ReportRow | null {
  const { line } = row;
  if ('fault' in row) return { line, id: null, status: 'refused', error: String(row.fault), ...nameOf(row) };
  if ('skipped' in row)
    return { line, id: null, status: 'skipped', error: String(row.skipped), ...nameOf(row) };
  return null;
}

function made(rows: Placed[], ids: string[]): ReportRow[] {
  return rows.map((row, at) => ({
    ...{ line: row.line, id: ids[at] ?? null, status: 'created' as const, error: null },
    ...nameOf(row),
  }));
}

function all(rows: Placed[], status: ReportRow['status'], error: string | null): ReportRow[] {
  return rows.map((row) => ({ line: row.line, id: null, status, error, ...nameOf(row) }));
}

const nameOf = (row: Placed) => ('path' in row ? { path: String(row.path) } : {});
