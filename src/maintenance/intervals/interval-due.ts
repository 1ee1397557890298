/** When an interval is due: by the calendar in UTC, and by the usage of the asset. */
import type { Usage } from '../assets/asset-document.ts';
import type { Counted, Due, DueThen, Interval } from './interval.ts';

export interface DueInterval extends Interval {
  /** What the next due date and counters are counted from: see `countsFrom`. */
  countsFrom: Counted;
  /** Null for units that the interval does not use. */
  nextDue: Due;
  /** The same with the tolerance. */
  latest: Due;
  /** Until it is due; negative after that. */
  remaining: { days: number | null; hours: number | null; cycles: number | null };
  /** It is past due, but the tolerance allows it. */
  inTolerance: boolean;
  /** The tolerance is exceeded as well. A life limit: the asset is retired. */
  overdue: boolean;
}

const dayMs = 24 * 60 * 60 * 1000;
/** The latest time that a date can have here. */
const lastTime = Date.parse('9999-12-31T23:59:59.999Z');
const counters = ['hours', 'cycles'] as const;

/** What is due at exactly this moment or counter value is not overdue yet. A life limit is: nothing is left. */
export function dueOf(interval: Interval, usage: Usage, at: Date): DueInterval {
  const { from, dayOfMonth } = startOf(interval);
  const nextDue = nextOf(interval, from, dayOfMonth);
  const latest = latestOf(interval, nextDue);
  const remaining = remainingUntil(nextDue, usage, at);
  const isOver = (left: DueInterval['remaining'], due: Due) =>
    (due.at !== null && due.at < at) ||
    // By the rounded values that are shown: a remainder of zero is due, but not overdue.
    counters.some((counter) => (left[counter] ?? 0) < 0);
  const isReached =
    (nextDue.at !== null && nextDue.at <= at) || counters.some((counter) => (remaining[counter] ?? 1) <= 0);
  const isLimit = interval.kind === 'life-limit';
  const overdue = isLimit ? isReached : isOver(remainingUntil(latest, usage, at), latest);
  return {
    ...interval,
    countsFrom: from,
    nextDue,
    latest,
    remaining,
    inTolerance: !overdue && isOver(remaining, nextDue),
    overdue,
  };
}

/** To be kept when the work is completed. */
export function dueThenOf(interval: Interval): DueThen {
  const { from, dayOfMonth } = startOf(interval);
  const due = nextOf(interval, from, dayOfMonth);
  return { due, latest: latestOf(interval, due), dayOfMonth };
}

/**
 * Each unit counts from when the work was done; or from when it was due, if it was done after that and within the tolerance,
 * so that using the tolerance moves nothing. Work that was done early, or too late even for the tolerance, starts anew.
 */
function startOf({ lastDone, dueThen }: Interval): { from: Counted; dayOfMonth: number } {
  const from = { ...lastDone };
  let dayOfMonth = lastDone.at.getUTCDate();
  if (!dueThen) return { from, dayOfMonth };
  const { due, latest } = dueThen;
  for (const counter of counters) {
    const [done, then, most] = [lastDone[counter], due[counter], latest[counter]];
    if (done !== null && then !== null && most !== null && done > then && done <= most) from[counter] = then;
  }
  if (due.at && latest.at && lastDone.at > due.at && lastDone.at <= latest.at) {
    from.at = due.at;
    dayOfMonth = dueThen.dayOfMonth;
  }
  return { from, dayOfMonth };
}

function nextOf({ every }: Interval, from: Counted, dayOfMonth: number): Due {
  const times = [
    ...(every.days === null ? [] : [from.at.getTime() + every.days * dayMs]),
    ...(every.months === null ? [] : [endOfDayMonthsAfter(from.at, every.months, dayOfMonth)]),
  ];
  return {
    at: times.length === 0 ? null : new Date(Math.min(...times, lastTime)),
    hours: sum(from.hours, every.hours),
    cycles: sum(from.cycles, every.cycles),
  };
}

function latestOf({ tolerance }: Interval, { at, hours, cycles }: Due): Due {
  return {
    at: at && new Date(Math.min(at.getTime() + (tolerance.days ?? 0) * dayMs, lastTime)),
    hours: hours === null ? null : rounded(hours + (tolerance.hours ?? 0)),
    cycles: cycles === null ? null : cycles + (tolerance.cycles ?? 0),
  };
}

function remainingUntil({ at: dueAt, hours, cycles }: Due, usage: Usage, at: Date): DueInterval['remaining'] {
  return {
    days: dueAt && rounded((dueAt.getTime() - at.getTime()) / dayMs),
    hours: hours === null ? null : rounded(hours - usage.hours),
    cycles: cycles === null ? null : cycles - usage.cycles,
  };
}

/** The end, in UTC, of the given day of a later month, or of that month's last day if it is shorter. */
function endOfDayMonthsAfter(at: Date, months: number, dayOfMonth: number): number {
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(dayOfMonth, lastDay), 23, 59, 59, 999);
}

function sum(done: number | null, every: number | null): number | null {
  return done === null || every === null ? null : rounded(done + every);
}

/** In binary, tenths of hours do not add up to whole hours. */
function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
