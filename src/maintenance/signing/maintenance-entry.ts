/** A maintenance entry as it is hashed: a document that says everything by itself. Pure, and safe in browsers. */
import { isCalendarDay, isDateTime } from '../../runtime/date-time.ts';

/** What maintenanceHash is made of, in its RFC 8785 form under a salt. */
export interface MaintenanceEntry {
  format: typeof entryFormat;
  workspaceId: string;
  assetId: string;
  maintenanceId: string;
  /** What kind of work it was, as the organisation names it. */
  type: string;
  summary: string;
  /** ISO 8601 in UTC: when the work was done. */
  performedAt: string;
  /** ISO 8601 in UTC: when it was put on record. */
  recordedAt: string;
  /** Who did it: EIP-55, with the name of that time. */
  workerAddress: string;
  workerName: string;
  data: Record<string, unknown>;
  files: AttachedFile[];
  /** The entry that this one corrects. */
  supersedes: string | null;
}

/** A file at the version it had when the entry was recorded. */
export interface AttachedFile {
  fileId: string;
  version: number;
  name: string;
  /** `raw`: 0x and the SHA-256 of its bytes; `hmac-sha256`: under a salt that its owner keeps. */
  contentHash: string;
  canonicalization: string;
}

export const entryFormat = 'holdfast/maintenance@1';

/** No work on record was done before: an earlier time is a slip of the pen. */
export const earliestWork = new Date('1900-01-01T00:00:00Z');

/** What `data.usage` says the asset had run when the work was done. */
export interface Usage {
  hours?: number;
  cycles?: number;
}

/** The scope that a licence must have to inspect or certify the work: `data.scope`, or else the entry's type. */
export function scopeOf({ type, data }: Pick<MaintenanceEntry, 'type' | 'data'>): string {
  return typeof data.scope === 'string' ? data.scope : type;
}

/** Whether it reports a defect. Organisations write their types as they like, so case does not matter. */
export function isDefect({ type }: Pick<MaintenanceEntry, 'type'>): boolean {
  return type.trim().toLowerCase() === 'defect';
}

/** The members of `data` that mean something to the service. */
export interface ReadData {
  usage: Usage | null;
  /** Ids of the defects that the work repairs. */
  closes: string[];
}

/** Gives what is wrong with them as a text. */
export function readData(data: Record<string, unknown>): ReadData | string {
  const { scope } = data;
  const hasScope = Object.hasOwn(data, 'scope');
  if (hasScope && (typeof scope !== 'string' || scope.trim() === '' || scope.length > 200)) {
    return 'data.scope must be a string of 1 to 200 characters that names the licence scope the work needs.';
  }
  const deferral = deferralFault(data);
  if (deferral !== null) return deferral;
  const closes = readCloses(data);
  if (typeof closes === 'string') return closes;
  const usage = readUsage(data);
  return typeof usage === 'string' ? usage : { usage, closes };
}

/** By when a deferred defect must be repaired; a day counts to its end. */
export function deferredUntil({ deferred }: Record<string, unknown>): Date | null {
  const until = (deferred as { until?: unknown } | null | undefined)?.until;
  if (typeof until !== 'string') return null;
  if (isDateTime(until)) return new Date(until);
  return isCalendarDay(until) ? new Date(`${until}T23:59:59.999Z`) : null;
}

function deferralFault(data: Record<string, unknown>): string | null {
  if (!Object.hasOwn(data, 'deferred')) return null;
  const { deferred } = data;
  if (typeof deferred === 'boolean') return null;
  if (typeof deferred !== 'object' || deferred === null || Array.isArray(deferred)) {
    return 'data.deferred must be true, false, or an object with `until`.';
  }
  if (!Object.hasOwn(deferred, 'until') || deferredUntil(data) !== null) return null;
  return 'data.deferred.until must be a day such as 2026-12-31, or a date and time with a time zone.';
}

function readCloses(data: Record<string, unknown>): string[] | string {
  if (!Object.hasOwn(data, 'closes')) return [];
  const ids = Array.isArray(data.closes) ? data.closes : [data.closes];
  if (
    ids.length <= mostClosed &&
    ids.every((id) => typeof id === 'string') &&
    new Set(ids).size === ids.length
  ) {
    return ids;
  }
  return `data.closes must be the id of a defect, or a list of up to ${mostClosed} different ids.`;
}

function readUsage(data: Record<string, unknown>): Usage | null | string {
  const { usage } = data;
  if (!Object.hasOwn(data, 'usage')) return null;
  if (typeof usage !== 'object' || usage === null || Array.isArray(usage)) {
    return 'data.usage must be an object with hours, cycles, or both.';
  }
  const { hours, cycles, ...others } = usage as Usage;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `data.usage.${unknown} is not a known field: use hours and cycles.`;
  if (hours !== undefined && !(typeof hours === 'number' && hours >= 0 && hours <= mostUsage)) {
    return 'data.usage.hours must be a number of 0 or more.';
  }
  if (cycles !== undefined && !(Number.isSafeInteger(cycles) && cycles >= 0 && cycles <= mostUsage)) {
    return 'data.usage.cycles must be a whole number of 0 or more.';
  }
  return { ...(hours !== undefined && { hours }), ...(cycles !== undefined && { cycles }) };
}

const mostClosed = 100;
/** Far beyond any machine, and exact in every number there is here. */
const mostUsage = 1_000_000_000_000;
