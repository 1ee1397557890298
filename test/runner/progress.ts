/** The progress of a run: one changing line on a terminal, otherwise a plain line now and then. */

export interface Progress {
  done: number;
  total: number;
  failures: number;
  /** Weights of the finished files, and of all files, in the same unit. */
  weightDone: number;
  weightTotal: number;
}

export interface ProgressLine {
  tell(progress: Progress): void;
  /** Prints other text, and the line again below it. */
  print(text: string): void;
  end(): void;
}

export interface ProgressTarget {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

const plainEveryMs = 15_000;
const terminalEveryMs = 1_000;

export function createProgressLine(
  target: ProgressTarget,
  now: () => number = () => performance.now(),
): ProgressLine {
  const terminal = target.isTTY === true;
  const began = now();
  let latest: { progress: Progress; elapsedMs: number } | null = null;
  let toldAt = now();
  const clear = () => terminal && target.write('\r\u001b[K');
  const draw = () => {
    if (latest === null) return;
    const line = lineOf(latest.progress, latest.elapsedMs, now() - began);
    if (terminal) target.write(`\r\u001b[K${line.slice(0, (target.columns ?? 80) - 1)}`);
    else target.write(`${line}\n`);
    toldAt = now();
  };
  const timer = setInterval(
    () => {
      if (now() - toldAt >= (terminal ? terminalEveryMs : plainEveryMs)) draw();
    },
    terminal ? terminalEveryMs : plainEveryMs,
  ).unref();
  return {
    tell(progress) {
      latest = { progress, elapsedMs: now() - began };
      if (terminal || now() - toldAt >= plainEveryMs) draw();
    },
    print(text) {
      clear();
      target.write(`${text}\n`);
      if (terminal) draw();
    },
    end() {
      clearInterval(timer);
      clear();
    },
  };
}

/** e.g. "2:05  80 of 165 files, no failure, about 2:10 left"; the estimate dates from when the last file finished. */
export function lineOf(progress: Progress, estimatedAtMs: number, elapsedMs: number): string {
  const { done, total, failures, weightDone, weightTotal } = progress;
  const failed = failures === 0 ? 'no failure' : failures === 1 ? '1 FAILURE' : `${failures} FAILURES`;
  const leftMs = (estimatedAtMs / weightDone) * (weightTotal - weightDone) - (elapsedMs - estimatedAtMs);
  const left = weightDone === 0 ? '' : leftMs < 1000 ? ', a moment left' : `, about ${minutes(leftMs)} left`;
  return `${minutes(elapsedMs)}  ${done} of ${total} files, ${failed}${left}`;
}

export function minutes(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
