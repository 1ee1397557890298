/** The progress of an import, as one changing line on a terminal; silent elsewhere. */
import { createPace, durationText } from '../bulk/pace.ts';
import type { ProgressTarget } from './progress-line.ts';

export interface ImportProgress {
  show(done: { rows: number; bytes: number }): void;
  /** Prints a line above. */
  say(line: string): void;
  end(): void;
}

const everyMs = 200;

export function createImportProgress(
  target: ProgressTarget | null,
  { noun, totalBytes, now = Date.now }: { noun: string; totalBytes: number; now?: () => number },
): ImportProgress {
  const pace = createPace();
  const terminal = target?.isTTY === true ? target : null;
  let shownAt = 0;
  let isShown = false;
  const clear = () => {
    if (isShown) terminal?.write('\r\u001b[K');
    isShown = false;
  };
  return {
    show(done) {
      const at = now();
      pace.at(at, done);
      if (!terminal || at - shownAt < everyMs) return;
      shownAt = at;
      clear();
      const perSecond = pace.rowsPerSecond();
      const left = pace.secondsLeft(totalBytes);
      const parts = [
        `${count(done.rows)} ${noun}`,
        `${size(done.bytes)} of ${size(totalBytes)}`,
        ...(perSecond === null ? [] : [`${count(Math.round(perSecond))}/s`]),
        ...(left === null ? [] : [`${durationText(left)} left`]),
      ];
      terminal.write(parts.join(', ').slice(0, (terminal.columns ?? 80) - 1));
      isShown = true;
    },
    say(line) {
      clear();
      target?.write(`${line}\n`);
    },
    end: clear,
  };
}

const count = (many: number) => many.toLocaleString('en-US');

function size(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let at = 0;
  let value = bytes;
  for (; value >= 999.5 && at < units.length - 1; at += 1) value /= 1_000;
  return `${at === 0 ? value : value.toFixed(1)} ${units[at]}`;
}
