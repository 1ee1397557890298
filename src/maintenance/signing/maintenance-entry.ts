/** A maintenance entry as it is hashed: a self-contained document. Pure, and safe in browsers. */
import { isCalendarDay, isDateTime } from '../../runtime/date-time.ts';
import { releaseDataFault } from './release-data.ts';

/** The content of maintenanceHash, hashed in its RFC 8785 form with a salt. */
export interface MaintenanceEntry {
  format: typeof entryFormat;
  workspaceId: string;
  assetId: string;
  maintenanceId: string;
  /** The kind of work, in the organisation's own terms. */
  type: string;
  summary: string;
  /** ISO 8601 in UTC: when the work was done. */
  performedAt: string;
  /** ISO 8601 in UTC: when the entry was recorded. */
  recordedAt: string;
  /** Who did the work: EIP-55, with the name at that time. */
  workerAddress: string;
  workerName: string;
  data: Record<string, unknown>;
  files: AttachedFile[];
  /** The entry that this one corrects. */
  supersedes: string | null;
  /** By the rules for this type of work and this asset when it was recorded. Entries of earlier versions have none. */
  requires?: Requirement;
}

/** What a sign-off of the work needs. */
export interface Requirement {
  /** The scope of the licence. */
  scope: string;
  /** The licence has one of these; empty: any. */
  categories: string[];
  /** An independent person inspects the work before it is certified. */
  critical: boolean;
}

/** A file at the version it had when the entry was recorded. */
export interface AttachedFile {
  fileId: string;
  version: number;
  name: string;
  /** `raw`: 0x and the SHA-256 of its bytes; `hmac-sha256`: keyed with a salt that its owner keeps. */
  contentHash: string;
  canonicalization: string;
}

export const entryFormat = 'holdfast/maintenance@1';

/** No recorded work is older: an earlier time is a typo. */
export const earliestWork = new Date('1900-01-01T00:00:00Z');

/** From `data.usage`: how much the asset had run when the work was done. */
export interface Usage {
  hours?: number;
  cycles?: number;
}

/** In entries of earlier versions, `data.scope` names the scope of the licence. */
export function requirementOf({
  type,
  data,
  requires,
}: Pick<MaintenanceEntry, 'type' | 'data' | 'requires'>): Requirement {
  if (requires) return requires;
  return { scope: typeof data.scope === 'string' ? data.scope : type, categories: [], critical: false };
}

/** Whether it reports a defect. Organisations spell their types freely, so case does not matter. */
export function isDefect({ type }: Pick<MaintenanceEntry, 'type'>): boolean {
  return type.trim().toLowerCase() === 'defect';
}

/** The members of `data` that the service uses. */
export interface ReadData {
  usage: Usage | null;
  /** Ids of the defects that the work repairs. */
  closes: string[];
}

/** Returns an error message if they are invalid. */
export function readData(data: Record<string, unknown>): ReadData | string {
  const fault = deferralFault(data) ?? releaseDataFault(data);
  if (fault !== null) return fault;
  const closes = readCloses(data);
  if (typeof closes === 'string') return closes;
  const usage = readUsage(data);
  return typeof usage === 'string' ? usage : { usage, closes };
}

/** When a deferred defect must be repaired; a day lasts until its end. */
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
/** Far beyond any machine, and exact in every number type used here. */
const mostUsage = 1_000_000_000_000;
