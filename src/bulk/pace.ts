/** How fast an import is, and how long it still takes. */

export interface Pace {
  /** In this second `rows` and `bytes` are done, counted from the beginning. */
  at(now: number, done: { rows: number; bytes: number }): void;
  /** Of the last seconds; null: not known yet. */
  rowsPerSecond(): number | null;
  secondsLeft(totalBytes: number): number | null;
}

const windowMs = 20_000;

export function createPace(): Pace {
  let samples: { now: number; rows: number; bytes: number }[] = [];
  const span = () => {
    const first = samples[0];
    const last = samples.at(-1);
    return first && last && last.now > first.now
      ? { first, last, seconds: (last.now - first.now) / 1_000 }
      : null;
  };
  return {
    at(now, done) {
      // At most two a second, so that the list stays short.
      const latest = samples.at(-2);
      if (latest && now - latest.now < 500) samples.pop();
      samples.push({ now, ...done });
      samples = samples.filter((sample) => now - sample.now <= windowMs || sample === samples.at(-1));
    },
    rowsPerSecond() {
      const over = span();
      return over && (over.last.rows - over.first.rows) / over.seconds;
    },
    secondsLeft(totalBytes) {
      const over = span();
      if (!over || over.last.bytes <= over.first.bytes) return null;
      const perSecond = (over.last.bytes - over.first.bytes) / over.seconds;
      return Math.max(0, totalBytes - over.last.bytes) / perSecond;
    },
  };
}

/** Such as 0:05 or 1:02:03. */
export function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  const minutes = Math.floor(whole / 60);
  const clock = `${String(minutes % 60).padStart(minutes >= 60 ? 2 : 1, '0')}:${String(whole % 60).padStart(2, '0')}`;
  return minutes >= 60 ? `${Math.floor(minutes / 60)}:${clock}` : clock;
}
