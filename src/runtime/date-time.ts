/** Validates dates and times from callers: only those that exist and that the database can store. */

export function isCalendarDay(text: string): boolean {
  if (!/^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

const hourAndMinute = '(?:[01]\\d|2[0-3]):[0-5]\\d';
const dateTime = new RegExp(
  `^(\\d{4}-\\d{2}-\\d{2})[Tt]${hourAndMinute}:[0-5]\\d(\\.\\d{1,9})?([Zz]|[+-]${hourAndMinute})$`,
);

/** RFC 3339 with a time zone. The day has no 24:00, and there are no leap seconds. */
export function isDateTime(text: string): boolean {
  const match = dateTime.exec(text);
  if (match === null || !isCalendarDay(match[1] ?? '')) return false;
  const at = Date.parse(text);
  return at >= Date.parse('0001-01-01T00:00:00Z') && at <= Date.parse('9999-12-31T23:59:59.999Z');
}
