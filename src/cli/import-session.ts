/** What all imports share: the connection, the journal, the report, the progress, and what is printed at the end. */
import { createHash } from 'node:crypto';
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { checkUnits } from '../bulk/dry-run.ts';
import { type Counts, countsText, noCounts, type ReportRow, reportHead, reportText } from '../bulk/report.ts';
import { runImport, type Sent } from '../bulk/run.ts';
import type { Left, Placed } from '../bulk/units.ts';
import { OperatorError } from '../runtime/errors.ts';
import { print } from './command.ts';
import { type ConnectionOptions, chooseConnection } from './connection.ts';
import { type JournalFile, openJournal } from './import-journal.ts';
import { createImportProgress } from './import-progress.ts';
import { createServiceCalls, type ServiceCalls } from './service-calls.ts';
import { stopOnSignal } from './stop-signal.ts';

export interface ImportOptions extends ConnectionOptions {
  dryRun?: boolean;
  report?: string;
  state?: string;
  concurrency: number;
  giveUpAfter: number;
  resendUnknown?: boolean;
  json?: boolean;
}

export interface ImportWork<R extends Placed> {
  /** As given: a file or a folder. */
  input: string;
  /** SHA-256, or what else tells the input from others. */
  identity: string;
  plan: string;
  totalBytes: number;
  /** Of rows, in the plural. */
  noun: string;
  units(journal: JournalFile | null): AsyncIterable<R[]>;
  keyOf(rows: Exclude<R, Left>[]): string;
  /** Of a row, for the journal. */
  partOf?(row: Exclude<R, Left>): string;
  send(rows: Exclude<R, Left>[], key: string): Promise<Sent>;
}

/** Faults that are printed; the report has all of them. */
const mostPrinted = 20;

export interface ImportSession {
  calls: ServiceCalls;
  /** Prints what came of it, and sets the exit code. */
  run<R extends Placed>(work: ImportWork<R>): Promise<void>;
}

export async function openImport(options: ImportOptions): Promise<ImportSession> {
  const connection = await chooseConnection(options);
  if (connection === null)
    throw new OperatorError('Name a service: use "holdfast login", or --url and HOLDFAST_API_KEY.');
  const stopping = stopOnSignal();
  let say = (line: string) => console.error(line);
  const giveUpMs = options.giveUpAfter * 1_000;
  const calls = createServiceCalls(connection, { giveUpMs, stopping, say: (line) => say(line) });

  async function run<R extends Placed>(work: ImportWork<R>): Promise<void> {
    const { input, identity, plan, noun, totalBytes } = work;
    const dryRun = options.dryRun === true;
    const journalPath = await journalPathOf(input, options.state);
    const journal = dryRun
      ? null
      : await openJournal(journalPath, { url: connection?.url ?? '', input: identity, plan });
    const report =
      options.report === undefined ? null : openReport(options.report, work.partOf !== undefined);
    const progress = createImportProgress(process.stderr, { noun, totalBytes });
    say = progress.say;
    const counts = noCounts();
    let printed = 0;
    let rows = 0;

    async function tell(reported: ReportRow[], end: number): Promise<void> {
      await report?.write(reported);
      for (const row of reported) {
        counts[row.status] += 1;
        if (row.error === null || row.status === 'skipped') continue;
        printed += 1;
        if (dryRun || printed <= mostPrinted) progress.say(`${row.path ?? `Line ${row.line}`}: ${row.error}`);
      }
      rows += reported.length;
      progress.show({ rows, bytes: end });
    }

    let stopped: string | null;
    try {
      stopped = journal
        ? await runImport({
            units: work.units(journal),
            keyOf: work.keyOf,
            send: work.send,
            journal,
            ...(work.partOf && { partOf: work.partOf }),
            concurrency: options.concurrency,
            resendUnknown: options.resendUnknown === true,
            report: tell,
            stopping,
            now: Date.now,
          })
        : await checkUnits(work.units(null), tell, stopping);
    } finally {
      progress.end();
      await report?.close();
      await journal?.close();
    }
    if (!dryRun && printed > mostPrinted)
      console.error(`… and ${printed - mostPrinted} more. --report FILE writes all of them.`);
    const complete = stopped === null;
    if (!complete || counts.refused + counts.unknown > 0) process.exitCode = 1;
    print(
      options,
      { input, ...counts, complete, stopped, dryRun, journal: dryRun ? null : journalPath },
      summary({ counts, noun, stopped, dryRun }),
    );
  }
  return { calls, run };
}

function summary({
  counts,
  noun,
  stopped,
  dryRun,
}: {
  counts: Counts;
  noun: string;
  stopped: string | null;
  dryRun: boolean;
}): string {
  const ended =
    stopped === null
      ? dryRun
        ? ' Nothing was sent.'
        : ''
      : `\nNot finished: ${stopped} Run the same command again to continue.`;
  return `${countsText({ counts, noun, dryRun })}${ended}`;
}

async function journalPathOf(input: string, folder: string | undefined): Promise<string> {
  const whole = resolve(input);
  if (folder === undefined) return `${whole}.holdfast-import`;
  await mkdir(folder, { recursive: true });
  // Files of the same name in different folders.
  const mark = createHash('sha256').update(whole).digest('hex').slice(0, 8);
  return join(folder, `${basename(whole)}-${mark}.holdfast-import`);
}

interface Report {
  write(rows: ReportRow[]): Promise<void>;
  close(): Promise<void>;
}

function openReport(path: string, hasPaths: boolean): Report {
  const format = /\.csv$/i.test(path) ? 'csv' : 'jsonl';
  const output = createWriteStream(path, { mode: 0o600 });
  let failure: Error | null = null;
  output.on('error', (error) => {
    failure = error;
  });
  const write = (text: string) =>
    new Promise<void>((done, failed) => {
      const refuse = (cause: unknown) =>
        failed(new OperatorError(`The report cannot be written: ${(cause as Error).message}.`, { cause }));
      if (failure) return refuse(failure);
      output.write(text, (error) => (error ? refuse(error) : done()));
    });
  let begun = false;
  const head = () => {
    if (begun) return '';
    begun = true;
    return reportHead(format, hasPaths);
  };
  return {
    write: (rows) => write(`${head()}${reportText(rows, format)}`),
    close: () => ended(output, head()),
  };
}

function ended(output: WriteStream, rest: string): Promise<void> {
  return new Promise((done) => {
    if (output.destroyed) return done();
    output.on('close', done);
    output.end(rest);
  });
}
