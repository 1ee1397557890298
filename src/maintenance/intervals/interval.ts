/** An interval as it is stored, and the rules for what a caller states about it. */
import type { Selectable } from 'kysely';
import type { Tables } from '../../db/tables.ts';
import { AppError } from '../../runtime/errors.ts';
import { earliestWork } from '../signing/maintenance-entry.ts';

/** A life limit ends the life of the asset; a recurring interval starts again once its work is done. */
export const intervalKinds = ['recurring', 'life-limit'] as const;
export type IntervalKind = (typeof intervalKinds)[number];

export interface Interval {
  id: string;
  name: string;
  kind: IntervalKind;
  /** At least one of them; the one that ends first counts. */
  every: { days: number | null; months: number | null; hours: number | null; cycles: number | null };
  /** By how much it may be exceeded without moving what is due after it; days also for months. */
  tolerance: Tolerance;
  /** For a life limit: when the life began, and the usage at that time. */
  lastDone: Counted;
  /** What was due when it was last completed; null before the first completion. */
  dueThen: DueThen | null;
  /** The entry that last completed it; null while `lastDone` has its initial value. */
  completedBy: string | null;
  /** Version number, from 1. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

export interface Counted {
  at: Date;
  hours: number | null;
  cycles: number | null;
}

interface Tolerance {
  days: number | null;
  hours: number | null;
  cycles: number | null;
}

/** Each is null if the interval did not use the unit. */
export interface Due {
  at: Date | null;
  hours: number | null;
  cycles: number | null;
}

export interface DueThen {
  due: Due;
  /** The same with the tolerance of then. */
  latest: Due;
  /** The day of the month to which months were counted: the 31st stays the 31st after a February. */
  dayOfMonth: number;
}

/** What a caller states about an interval. */
export interface GivenInterval {
  name: string;
  kind?: IntervalKind | undefined;
  every: Partial<Interval['every']>;
  tolerance?: Partial<Tolerance>;
  lastDone: Pick<Counted, 'at'> & Partial<Counted>;
}

export type Stated = Pick<Interval, 'name' | 'kind' | 'every' | 'tolerance' | 'lastDone'>;

/** The error if a tolerance does not fit: `conflict` if it is what was stored before that it does not fit. */
type Misfit = 'invalid_request' | 'conflict';

export function checked(
  { name, kind = 'recurring', every, tolerance, lastDone }: GivenInterval,
  misfit: Misfit = 'invalid_request',
): Stated {
  const { days = null, months = null, hours = null, cycles = null } = every;
  if (days === null && months === null && hours === null && cycles === null) {
    throw new AppError('invalid_request', 'every must have days, months, hours or cycles.');
  }
  for (const counter of ['hours', 'cycles'] as const) {
    if ((every[counter] ?? null) !== null && (lastDone[counter] ?? null) === null) {
      throw new AppError(
        'invalid_request',
        `lastDone.${counter} is required when every.${counter} is given.`,
      );
    }
  }
  if (lastDone.at > new Date()) {
    throw new AppError('invalid_request', 'lastDone.at must not be in the future.');
  }
  if (lastDone.at < earliestWork) {
    throw new AppError('invalid_request', 'lastDone.at must not be before the year 1900.');
  }
  const whole = { days, months, hours, cycles };
  return {
    name,
    kind,
    every: whole,
    tolerance: checkedTolerance({ kind, every: whole }, tolerance ?? {}, misfit),
    lastDone: { at: lastDone.at, hours: lastDone.hours ?? null, cycles: lastDone.cycles ?? null },
  };
}

/** A month has at least 28 days. */
const fewestDaysOfMonth = 28;

function checkedTolerance(
  { kind, every }: Pick<Interval, 'kind' | 'every'>,
  { days = null, hours = null, cycles = null }: Partial<Tolerance>,
  misfit: Misfit,
): Tolerance {
  const tolerance = { days, hours, cycles };
  const fewestDays = [
    ...(every.days === null ? [] : [every.days]),
    ...(every.months === null ? [] : [every.months * fewestDaysOfMonth]),
  ];
  const wholes = {
    days: fewestDays.length === 0 ? null : Math.min(...fewestDays),
    hours: every.hours,
    cycles: every.cycles,
  };
  for (const unit of ['days', 'hours', 'cycles'] as const) {
    const most = tolerance[unit];
    if (most === null) continue;
    if (kind === 'life-limit') {
      throw new AppError(misfit, 'A life limit has no tolerance: at the limit the asset is retired.');
    }
    const whole = wholes[unit];
    if (whole === null) {
      const needs = unit === 'days' ? 'every.days or every.months' : `every.${unit}`;
      throw new AppError(misfit, `tolerance.${unit} needs ${needs}.`);
    }
    if (most >= whole) {
      throw new AppError(misfit, `tolerance.${unit} must be smaller than the interval itself.`);
    }
  }
  return tolerance;
}

export type IntervalRow = Selectable<Tables['asset_intervals']>;

export function toInterval(row: IntervalRow): Interval {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind as IntervalKind,
    every: {
      days: row.every_days,
      months: row.every_months,
      hours: row.every_hours,
      cycles: row.every_cycles,
    },
    tolerance: { days: row.tolerance_days, hours: row.tolerance_hours, cycles: row.tolerance_cycles },
    lastDone: { at: row.done_at, hours: row.done_hours, cycles: row.done_cycles },
    dueThen: row.due_then && toDueThen(row.due_then as unknown as StoredDueThen),
    completedBy: row.completed_by,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function columnsOf({
  name,
  kind,
  every,
  tolerance,
  lastDone,
  dueThen,
  completedBy,
}: Stated & Pick<Interval, 'dueThen' | 'completedBy'>) {
  return {
    name,
    kind,
    every_days: every.days,
    every_months: every.months,
    every_hours: every.hours,
    every_cycles: every.cycles,
    tolerance_days: tolerance.days,
    tolerance_hours: tolerance.hours,
    tolerance_cycles: tolerance.cycles,
    done_at: lastDone.at,
    done_hours: lastDone.hours,
    done_cycles: lastDone.cycles,
    due_then: dueThen && JSON.stringify(dueThen),
    completed_by: completedBy,
  };
}

/** For the audit log. */
export function detailsOf(interval: Interval): Record<string, unknown> {
  const { id, name, kind, every, tolerance, lastDone, completedBy } = interval;
  const done = { ...lastDone, at: lastDone.at.toISOString() };
  return { intervalId: id, name, kind, every, tolerance, lastDone: done, completedBy };
}

type StoredDue = Omit<Due, 'at'> & { at: string | null };

interface StoredDueThen {
  due: StoredDue;
  latest: StoredDue;
  dayOfMonth: number;
}

function toDueThen({ due, latest, dayOfMonth }: StoredDueThen): DueThen {
  return { due: withTime(due), latest: withTime(latest), dayOfMonth };
}

function withTime({ at, ...rest }: StoredDue): Due {
  return { ...rest, at: at === null ? null : new Date(at) };
}
