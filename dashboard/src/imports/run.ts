/** The import of this page, which goes on while its user looks at other pages of the dashboard. */
import { useSyncExternalStore } from 'react';
import { checkUnits } from '../../../src/bulk/dry-run.ts';
import { createPace } from '../../../src/bulk/pace.ts';
import { type Counts, noCounts, type ReportRow } from '../../../src/bulk/report.ts';
import { runImport, type Sent } from '../../../src/bulk/run.ts';
import type { Left, Placed } from '../../../src/bulk/units.ts';
import { isSessionEnded } from '../api/session-end.ts';
import type { Progress } from '../files/file-hash.ts';
import {
  type BrowserJournal,
  findImport,
  findOther,
  journalOf,
  type KeptImport,
  keepImport,
  whileNoOther,
} from './journal.ts';
import { createReportFile, type ReportFile } from './report-file.ts';
import { createService, type Service } from './service.ts';

/** What is imported, and how. */
export interface Job {
  /** Of the file or the folder. */
  name: string;
  noun: 'records' | 'files';
  vaultAddress: string;
  totalBytes: number;
  dryRun: boolean;
  resendUnknown: boolean;
  /** Although a file of the same name was imported before, with other content or options. */
  again: boolean;
  begin(step: Progress, work: Worker): Promise<string | null>;
}

/** What a job does with its plan. */
export interface Worker {
  run<R extends Placed>(plan: Plan<R>): Promise<string | null>;
}

export interface Plan<R extends Placed> {
  /** Null: a dry run, in which nothing is sent. */
  kept: KeptImport | null;
  units(journal: BrowserJournal | null, under: Under): AsyncIterable<R[]>;
  keyOf(rows: Exclude<R, Left>[]): string;
  /** Of a row, for the journal. */
  partOf?(row: Exclude<R, Left>): string;
  send(rows: Exclude<R, Left>[], key: string, service: Service, under: Under): Promise<Sent>;
}

/** How much of the part of the input that ends there is done, from 0 to 1. */
export type Under = (place: Placed, bytes: number) => void;

export interface RunState {
  job: Job;
  phase: 'reading' | 'running' | 'ended';
  /** Asked to stop, but something is still under way. */
  stopping: boolean;
  rows: number;
  bytes: number;
  perSecond: number | null;
  secondsLeft: number | null;
  counts: Counts;
  /** The first of them. */
  faults: ReportRow[];
  faultCount: number;
  /** Why it waits. */
  trouble: string | null;
  /** Why not everything was tried. */
  stopped: string | null;
  /** It did not begin, because a file of this name was imported before. */
  wasBefore: boolean;
  report: ReportFile;
}

/** A browser opens six connections to a service; the others are for the page itself. */
const atOnce = 4;
const mostFaults = 100;
/** Progress is rendered at most this often. */
const showMs = 200;
/** How far it is, for the list of imports, is written at most this often. */
const keepMs = 2_000;

/** For the navigation: see import-share.tsx. */
const shareEvent = 'holdfast-import';

let state: RunState | null = null;
let stopper = new AbortController();
let showing: ReturnType<typeof setTimeout> | null = null;
const listeners = new Set<() => void>();

export function useRun(): RunState | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

/** Whether anything of it exists, or may. */
export const isAnyIn = ({ counts }: RunState) => counts.created + counts.unknown > 0;

function show(): void {
  if (showing !== null) clearTimeout(showing);
  showing = null;
  const isOn = state !== null && state.phase !== 'ended' && !state.job.dryRun;
  const share = isOn && state ? state.bytes / Math.max(1, state.job.totalBytes) : null;
  window.dispatchEvent(new CustomEvent(shareEvent, { detail: share }));
  for (const listener of listeners) listener();
}

function change(values: Partial<RunState>): void {
  if (state) state = { ...state, ...values };
  showing ??= setTimeout(show, showMs);
}

export function stopImport(): void {
  stopper.abort();
  change({ stopping: true });
  show();
}

/** Forgets what came of an import or a dry run. */
export function closeImport(): void {
  if (state?.phase !== 'ended') return;
  state = null;
  show();
}

/** Forgets what came of a dry run. */
export function closeCheck(): void {
  if (state?.job.dryRun) closeImport();
}

export async function startImport(job: Job): Promise<void> {
  if (state && state.phase !== 'ended') return;
  const report = createReportFile(job.noun === 'files');
  stopper = new AbortController();
  const { signal } = stopper;
  state = {
    ...{ job, report, phase: 'reading', stopping: false, rows: 0, bytes: 0, counts: noCounts() },
    ...{ perSecond: null, secondsLeft: null, faults: [], faultCount: 0, trouble: null, stopped: null },
    wasBefore: false,
  };
  show();
  window.addEventListener('beforeunload', warn);
  let stopped: string | null;
  let wasBefore = false;
  try {
    const step = { signal, tell: (part: number) => change({ bytes: part * job.totalBytes }) };
    stopped = await job.begin(step, { run: (plan) => carryOut(plan, job, report) });
  } catch (error) {
    wasBefore = error instanceof ImportedBefore;
    stopped = signal.aborted ? 'It was interrupted.' : (error as Error).message;
  } finally {
    window.removeEventListener('beforeunload', warn);
  }
  change({ phase: 'ended', stopping: false, trouble: null, stopped, wasBefore });
  show();
}

class ImportedBefore extends Error {
  constructor({ name, rows }: KeptImport) {
    super(
      `A file called ${name} was imported into this vault before, with other content or options: ${rows.toLocaleString('en')} rows. What went in then would be made a second time. To add corrected rows, import them from a file of their own.`,
    );
  }
}

/** Without a session nothing goes on anyway, and somebody else may have to come to the page. */
function warn(event: BeforeUnloadEvent): void {
  if (!isSessionEnded()) event.preventDefault();
}

async function carryOut<R extends Placed>(
  plan: Plan<R>,
  job: Job,
  report: ReportFile,
): Promise<string | null> {
  const { kept } = plan;
  if (kept === null) {
    const { tell, under } = createTally(job, report);
    return checkUnits(plan.units(null, under), (rows, end) => tell(rows, end), stopper.signal);
  }
  change({ phase: 'running', bytes: 0 });
  return whileNoOther(kept.id, () => send(plan, kept, job, report));
}

async function send<R extends Placed>(
  plan: Plan<R>,
  kept: KeptImport,
  job: Job,
  report: ReportFile,
): Promise<string | null> {
  const { signal } = stopper;
  const before = await findImport(kept.id);
  if (kept.input && before === null && !job.again) {
    const other = await findOther(kept);
    if (other) throw new ImportedBefore(other);
  }
  const begun = { ...kept, begunAt: before?.begunAt ?? Date.now() };
  await keepImport({ ...begun, rows: before?.rows ?? 0 });
  const { tell, under, wentIn } = createTally(job, report);
  const service = createService(signal, (trouble) => {
    if (state?.trouble !== trouble) change({ trouble });
  });
  const journal = journalOf(kept.id);
  const keepNow = (complete: boolean) =>
    keepImport({ ...begun, rows: Math.max(wentIn(), before?.rows ?? 0), complete });
  let keptAt = 0;
  let complete = false;
  try {
    const stopped = await runImport({
      units: plan.units(journal, under),
      keyOf: plan.keyOf,
      ...(plan.partOf && { partOf: plan.partOf }),
      send: (some, key) => plan.send(some, key, service, under),
      journal,
      concurrency: atOnce,
      resendUnknown: job.resendUnknown,
      async report(some, end) {
        await tell(some, end);
        if (Date.now() - keptAt < keepMs) return;
        keptAt = Date.now();
        await keepNow(false);
      },
      stopping: signal,
      now: Date.now,
    });
    complete = stopped === null;
    return stopped;
  } finally {
    await keepNow(complete);
  }
}

/** Counts what is reported, and shows it. */
function createTally(job: Job, report: ReportFile) {
  const pace = createPace();
  const counts = noCounts();
  const faults: ReportRow[] = [];
  const underWay = new Map<number, number>();
  let faultCount = 0;
  let rows = 0;
  let settled = 0;
  pace.at(Date.now(), { rows, bytes: settled });
  change({ phase: 'running', bytes: settled });

  function showNow(): void {
    const bytes = Math.min(
      job.totalBytes,
      underWay.values().reduce((sum, part) => sum + part, settled),
    );
    pace.at(Date.now(), { rows, bytes });
    const perSecond = pace.rowsPerSecond();
    const secondsLeft = pace.secondsLeft(job.totalBytes);
    const told = { counts: { ...counts }, faults: [...faults], faultCount, rows, bytes };
    change({ ...told, perSecond, secondsLeft, phase: 'running' });
  }

  return {
    wentIn: () => counts.created + counts.unknown,
    under(place: Placed, bytes: number): void {
      if (place.end > settled) underWay.set(place.end, bytes);
      showNow();
    },
    async tell(reported: ReportRow[], end: number): Promise<void> {
      report.add(reported);
      for (const row of reported) {
        counts[row.status] += 1;
        if (row.error === null || row.status === 'skipped') continue;
        faultCount += 1;
        if (faults.length < mostFaults) faults.push(row);
      }
      rows += reported.length;
      settled = end;
      for (const place of underWay.keys()) if (place <= end) underWay.delete(place);
      showNow();
    },
  };
}
