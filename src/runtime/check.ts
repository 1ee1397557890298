/**
 * The framework of `holdfast fsck`: a check reads its rows page by page and reports broken rules. Data changes while it
 * reads, so suspicious rows are read again a little later, and only findings of both looks are reported.
 */

/** One broken rule. */
export interface Finding {
  /** Name of the broken rule. */
  rule: string;
  /** The ids it is about; two findings with the same rule and ids are the same. */
  ids: Record<string, string | number>;
  /** A sentence. */
  message: string;
  /** How to fix it. */
  advice: string;
}

/** One scan over rows in the order of their key. */
export interface Pass {
  /** What is checked, in the plural. */
  what: string;
  /** The number of rows, exact or estimated; only for the progress. */
  count(): Promise<number>;
  /** Checks the rows after a key: up to another key, or one page of them. Each pass has its own kind of key. */
  look(range: Range): Promise<Look>;
  /** The passes over what was written since a time, in work proportional to that. Absent: there is no such way. */
  since?(time: Date): Pass[];
}

export interface Range {
  /** Undefined: from the first row. */
  after: unknown;
  /** Undefined: one page. */
  until: unknown;
}

export interface Look {
  rows: number;
  /** Key of the last row; undefined when there are no more rows, which ends the scan. */
  last: unknown;
  findings: Finding[];
}

export interface Check {
  name: string;
  passes: Pass[];
  /** What an operator should know although nothing is broken, in sentences; after the passes. */
  notes?(): Promise<string[]>;
}

/** The check, or part of it, cannot be done here and now; the message says why. */
export class NotMade extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotMade';
  }
}

export interface CheckReport {
  name: string;
  /** Rows checked, in all passes. */
  checked: number;
  /** The number of findings; `findings` has only the first ones. */
  found: number;
  findings: Finding[];
  /** What could not be checked, and why. It must never count as passed. */
  skipped: { what: string; reason: string }[];
  /** Of a check since a time: what it did not look at, because that would mean to read all of it. */
  notLookedAt?: string[];
  /** Of checks that have any. */
  notes?: string[];
}

export interface Progress {
  check: string;
  what: string;
  done: number;
  /** Null until it is known. */
  total: number | null;
}

export interface CheckOptions {
  onProgress?(progress: Progress): void;
  onFinding?(check: string, finding: Finding): void;
  /** Time between the two looks. */
  settleMs?: number;
  /** How many findings of a check are kept and reported; the rest are only counted. */
  keep?: number;
  /** Checks only what was written since then. */
  since?: Date;
  signal?: AbortSignal;
}

/** A pass that is created when it begins, and may turn out to have nothing to check. */
export function laterPass(what: string, make: () => Promise<Pass | undefined>): Pass {
  let made: Pass | undefined;
  return {
    what,
    async count() {
      made = await make();
      return made ? made.count() : 0;
    },
    look: async (range) => (made ? made.look(range) : { rows: 0, last: undefined, findings: [] }),
  };
}

/** The pass, from the key on that `findStart` returns, for one whose keys grow with time. Undefined: nothing was written. */
export function passFrom(pass: Pass, findStart: () => Promise<unknown>): Pass {
  let start: unknown;
  return {
    what: pass.what,
    async count() {
      start = await findStart();
      return 0;
    },
    look: async ({ after, until }) =>
      start === undefined
        ? { rows: 0, last: undefined, findings: [] }
        : pass.look({ after: after ?? start, until }),
  };
}

const defaultSettleMs = 3_000;
const defaultKeep = 1_000;
/** This many pages with findings share one wait before the second look. */
const suspectsTogether = 20;

interface Suspect {
  range: Range;
  findings: Finding[];
}

export async function runEach(checks: Check[], options: CheckOptions = {}): Promise<CheckReport[]> {
  const reports: CheckReport[] = [];
  for (const check of checks) {
    const report: CheckReport = { name: check.name, checked: 0, found: 0, findings: [], skipped: [] };
    reports.push(report);
    for (const pass of passesOf(check, report, options)) {
      try {
        options.signal?.throwIfAborted();
        await runPass(pass, report, options);
      } catch (error) {
        report.skipped.push({ what: pass.what, reason: reasonOf(error) });
      }
    }
    try {
      const notes = (await check.notes?.()) ?? [];
      if (notes.length > 0) report.notes = notes;
    } catch (error) {
      report.skipped.push({ what: 'notes', reason: reasonOf(error) });
    }
  }
  return reports;
}

function passesOf({ passes }: Check, report: CheckReport, { since }: CheckOptions): Pass[] {
  if (since === undefined) return passes;
  const without = passes.filter((pass) => pass.since === undefined);
  if (without.length > 0) report.notLookedAt = without.map(({ what }) => what);
  return passes.flatMap((pass) => pass.since?.(since) ?? []);
}

async function runPass(pass: Pass, report: CheckReport, options: CheckOptions): Promise<void> {
  const { settleMs = defaultSettleMs, keep = defaultKeep, signal, onProgress, onFinding } = options;
  const tell = (total: number | null) =>
    onProgress?.({ check: report.name, what: pass.what, done, total: total && Math.max(total, done) });
  let done = 0;
  tell(null);
  const total = await pass.count();
  tell(total);

  let suspects: Suspect[] = [];
  async function lookAgain(): Promise<void> {
    if (suspects.length === 0) return;
    await rest(settleMs, signal);
    for (const { range, findings } of suspects) {
      const first = new Set(findings.map(identity));
      const again = await pass.look(range);
      for (const finding of again.findings) {
        if (!first.has(identity(finding))) continue;
        report.found += 1;
        if (report.findings.length >= keep) continue;
        report.findings.push(finding);
        onFinding?.(report.name, finding);
      }
    }
    suspects = [];
  }

  for (let after: unknown; ; ) {
    signal?.throwIfAborted();
    const { rows, last, findings } = await pass.look({ after, until: undefined });
    done += rows;
    report.checked += rows;
    tell(total);
    if (findings.length > 0) suspects.push({ range: { after, until: last }, findings });
    if (suspects.length === suspectsTogether) await lookAgain();
    if (last === undefined) break;
    after = last;
  }
  await lookAgain();
}

function identity({ rule, ids }: Finding): string {
  return JSON.stringify([rule, ids]);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

/** Rejects when the signal aborts. */
function rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
}
