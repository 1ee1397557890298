/** The one reading of times in documents that verifiers judge: two verifiers must not read two times from one text. */
import type { Check, Fault } from './json-shape.ts';

/** Whole seconds or milliseconds, in UTC. There is no year 0, no 24:00 and no second 60. */
const form = /^(?!0000)\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{3})?Z$/;

/** Milliseconds since 1970; NaN for anything else than a time of that form on a day that exists. */
export function utcTime(text: unknown): number {
  if (typeof text !== 'string' || !form.test(text)) return Number.NaN;
  const time = Date.parse(text);
  // Date.parse reads 30 February as 2 March.
  const isReal = !Number.isNaN(time) && new Date(time).toISOString().startsWith(text.slice(0, 19));
  return isReal ? time : Number.NaN;
}

export function isUtcTime(value: unknown, path: string): Fault[] {
  return Number.isNaN(utcTime(value)) ? [{ path, message: 'is not a time in UTC' }] : [];
}

/** As signers state it: in whole seconds, and not before 1970. */
export const isWholeSecond: Check = (value, path) => {
  const isOne = utcTime(value) >= 0 && String(value).endsWith('.000Z');
  return isOne
    ? []
    : [{ path, message: 'is not a time since 1970, in whole seconds, such as 2026-11-15T12:00:00.000Z' }];
};
