/** A time in the past as operators give it: how long ago, a day, or a date with a time. */
import { isCalendarDay, isDateTime } from '../runtime/date-time.ts';
import { OperatorError } from '../runtime/errors.ts';

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/** `inFuture`: what is wrong with such a time. */
export function parseSince(text: string, now: Date, inFuture = 'nothing was written since then'): Date {
  const time = timeOf(text.trim(), now);
  if (time === null || Number.isNaN(time.getTime())) {
    throw new OperatorError(
      `"${text}" is not a time. Give how long ago (30m, 24h, 7d, 2w), a day (2026-11-01, from midnight UTC) or a time (2026-11-01T08:00:00Z).`,
    );
  }
  if (time > now) throw new OperatorError(`${text} is in the future: ${inFuture}.`);
  return time;
}

function timeOf(text: string, now: Date): Date | null {
  const [, count, unit] = /^(\d{1,4})([mhdw])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined)
    return new Date(now.getTime() - Number(count) * unitMs[unit as keyof typeof unitMs]);
  return isCalendarDay(text) || isDateTime(text) ? new Date(text) : null;
}
