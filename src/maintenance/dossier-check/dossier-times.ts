/**
 * What a dossier states about times, against what trusted clocks vouch for. A clock vouches that something existed at its
 * time, not since when: so a statement can be refuted by a clock that is earlier, and by a later one it is only not shown.
 */
import { utcTime } from '../../proof/utc-time.ts';
import { isoTime } from '../../proof/verify/steps.ts';

/** How far two clocks may be apart, in milliseconds. Bitcoin's is right to two hours. */
export const clocksMs = 2 * 60 * 60 * 1000;
/** How long after something a trusted clock usually vouches for it: a transfer is confirmed, a token or a block comes. */
export const vouchingMs = 24 * 60 * 60 * 1000;

/** The earliest time at which a trusted clock says that something existed, in milliseconds since 1970, and who says so. */
export interface Vouched {
  time: number;
  by: string;
}

/** Why the statement is not true, or null; `verb` says what happened then. */
export function statementFault(verb: string, stated: string, vouched: Vouched | null): string | null {
  const time = utcTime(stated);
  if (Number.isNaN(time)) return `does not state when it was ${verb}`;
  if (vouched === null || time <= vouched.time + clocksMs) return null;
  return `states that it was ${verb} at ${stated}, but it existed before: on ${isoTime(vouched.time)}, says ${vouched.by}`;
}

/** Whether the first trusted clock is so much later that it does not support the statement. */
export function isLongBefore(stated: string | number, vouched: Vouched | null): boolean {
  const time = typeof stated === 'number' ? stated : utcTime(stated);
  return vouched !== null && vouched.time > time + vouchingMs;
}

export function earlier(one: Vouched | null, other: Vouched | null): Vouched | null {
  if (one === null || other === null) return one ?? other;
  return one.time <= other.time ? one : other;
}
