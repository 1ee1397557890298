/** A maintenance entry as it is hashed: a document that says everything by itself. Pure, and safe in browsers. */

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

/** What `data.usage` says the asset had run when the work was done. */
export interface Usage {
  hours?: number;
  cycles?: number;
}

/** The scope that a licence must have to inspect or certify the work: `data.scope`, or else the entry's type. */
export function scopeOf({ type, data }: Pick<MaintenanceEntry, 'type' | 'data'>): string {
  return typeof data.scope === 'string' ? data.scope : type;
}

/** The members of `data` that mean something to the service; gives what is wrong with them as a text. */
export function readData(data: Record<string, unknown>): { usage: Usage | null } | string {
  const { scope, usage } = data;
  const hasScope = Object.hasOwn(data, 'scope');
  if (hasScope && (typeof scope !== 'string' || scope.trim() === '' || scope.length > 200)) {
    return 'data.scope must be a text of 1 to 200 characters: it names the licence that the work needs.';
  }
  if (!Object.hasOwn(data, 'usage')) return { usage: null };
  if (typeof usage !== 'object' || usage === null || Array.isArray(usage)) {
    return 'data.usage must be an object with hours, cycles, or both.';
  }
  const { hours, cycles, ...others } = usage as Usage;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `data.usage.${unknown} is not known: it has hours and cycles.`;
  if (hours !== undefined && !(typeof hours === 'number' && hours >= 0 && hours <= mostUsage)) {
    return 'data.usage.hours must be a number that is not negative.';
  }
  if (cycles !== undefined && !(Number.isSafeInteger(cycles) && cycles >= 0 && cycles <= mostUsage)) {
    return 'data.usage.cycles must be a whole number that is not negative.';
  }
  return { usage: { ...(hours !== undefined && { hours }), ...(cycles !== undefined && { cycles }) } };
}

/** Far beyond any machine; keeps a slip of the pen from setting a value that could never be corrected. */
const mostUsage = 1_000_000_000_000;
