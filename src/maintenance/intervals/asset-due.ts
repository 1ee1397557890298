/** What is due on an asset: the next due time of every interval, and open defects. */
import type { Db } from '../../db/database.ts';
import type { Usage } from '../assets/asset-document.ts';
import { type AssetKey, findAsset } from '../assets/assets.store.ts';
import { findOpenDefects, type OpenDefect } from '../entries/open-defects.ts';
import { type Interval, listIntervals, maxIntervals } from './asset-intervals.ts';

export interface DueList {
  assetId: string;
  /** The time of this list. */
  at: Date;
  usage: Usage;
  /** Whether anything is overdue. */
  overdue: boolean;
  intervals: DueInterval[];
  openDefects: OpenDefect[];
}

export interface DueInterval extends Interval {
  /** Null for units that the interval does not use. */
  nextDue: { at: Date | null; hours: number | null; cycles: number | null };
  /** Until then; negative when overdue. */
  remaining: { days: number | null; hours: number | null; cycles: number | null };
  overdue: boolean;
}

export async function dueList(db: Db, key: AssetKey, at: Date): Promise<DueList> {
  const { assetId, usage } = await findAsset(db, key);
  const known = await listIntervals(db, key, { after: '', limit: maxIntervals });
  const intervals = known.map((interval) => dueOf(interval, usage, at));
  const openDefects = await findOpenDefects(db, key, at);
  const overdue = [...intervals, ...openDefects].some(({ overdue }) => overdue);
  return { assetId, at, usage, overdue, intervals, openDefects };
}

const dayMs = 24 * 60 * 60 * 1000;
/** The latest time that a date can have here. */
const lastTime = Date.parse('9999-12-31T23:59:59.999Z');

/** What is due at exactly this moment or counter value is not overdue yet. */
export function dueOf(interval: Interval, usage: Usage, at: Date): DueInterval {
  const { every, lastDone } = interval;
  const dueTimes = [
    ...(every.days === null ? [] : [lastDone.at.getTime() + every.days * dayMs]),
    ...(every.months === null ? [] : [monthsAfter(lastDone.at, every.months)]),
  ];
  const dueAt = dueTimes.length === 0 ? null : new Date(Math.min(...dueTimes, lastTime));
  const hours = sum(lastDone.hours, every.hours);
  const cycles = sum(lastDone.cycles, every.cycles);
  const remaining = {
    days: dueAt && rounded((dueAt.getTime() - at.getTime()) / dayMs),
    hours: hours === null ? null : rounded(hours - usage.hours),
    cycles: cycles === null ? null : cycles - usage.cycles,
  };
  const overdue =
    (dueAt !== null && dueAt < at) ||
    // By the rounded values that are shown: a remainder of zero is due, but not overdue.
    (remaining.hours !== null && remaining.hours < 0) ||
    (remaining.cycles !== null && remaining.cycles < 0);
  return { ...interval, nextDue: { at: dueAt, hours, cycles }, remaining, overdue };
}

/** The same day of a later month, or that month's last day if it is shorter; in UTC. */
function monthsAfter(at: Date, months: number): number {
  const due = new Date(at);
  due.setUTCDate(1);
  due.setUTCMonth(due.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(due.getUTCFullYear(), due.getUTCMonth() + 1, 0)).getUTCDate();
  return due.setUTCDate(Math.min(at.getUTCDate(), lastDay));
}

function sum(done: number | null, every: number | null): number | null {
  return done === null || every === null ? null : rounded(done + every);
}

/** In binary, tenths of hours do not add up to whole hours. */
function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
