/** The progress of a long command: one changing line on a terminal, otherwise a plain line now and then. */
import type { Progress } from '../runtime/check.ts';

export interface ProgressLine {
  tell(progress: Progress): void;
  /** Clears the line, so that something else can be printed. */
  clear(): void;
  end(): void;
}

export interface ProgressTarget {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

const terminalEveryMs = 100;
const plainEveryMs = 10_000;

/** A null target prints nothing. */
export function createProgressLine(target: ProgressTarget | null, now = () => Date.now()): ProgressLine {
  if (target === null) return { tell() {}, clear() {}, end() {} };
  const began = now();
  const terminal = target.isTTY === true;
  let shown = '';
  let told = { what: '', at: Number.NEGATIVE_INFINITY };

  const clear = () => {
    if (terminal && shown !== '') target.write('\r\u001b[K');
    shown = '';
  };
  return {
    tell(progress) {
      const { check, what } = progress;
      const at = now();
      const isNew = told.what !== check + what;
      // A plain line announces new work only once its total is known.
      const due = at - told.at >= (terminal ? terminalEveryMs : plainEveryMs);
      if (terminal ? !(isNew || due) : progress.total === null || !(isNew || due)) return;
      told = { what: check + what, at };
      const line = lineOf(progress, at - began);
      if (!terminal) target.write(`${line}\n`);
      else {
        clear();
        shown = line.slice(0, (target.columns ?? 80) - 1);
        target.write(shown);
      }
    },
    clear,
    end: clear,
  };
}

function lineOf({ check, what, done, total }: Progress, elapsedMs: number): string {
  const seconds = Math.floor(elapsedMs / 1000);
  const elapsed = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  const far =
    total === null ? 'counting' : `${done.toLocaleString('en-US')} of ${total.toLocaleString('en-US')}`;
  return `${elapsed}  ${check}: ${what}, ${far}`;
}
