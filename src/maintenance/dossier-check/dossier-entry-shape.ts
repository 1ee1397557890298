/** The shape of an entry in a dossier, as far as its check and readers rely on it. */
import { type Check, eachOf, exactly, matching, nullOr, objectOf } from '../../proof/json-shape.ts';
import { isUtcTime } from '../../proof/utc-time.ts';
import { entryFormat } from '../signing/maintenance-entry.ts';

const text = matching(/^/u, 'a text');
const count: Check = (value, path) =>
  Number.isSafeInteger(value) && (value as number) > 0 ? [] : [{ path, message: 'is not a number from 1' }];
const open = { open: true };

const checkEntryShape = objectOf(
  {
    ...{ format: exactly(entryFormat), workspaceId: text, assetId: text, maintenanceId: text },
    ...{ type: text, summary: text, performedAt: isUtcTime, recordedAt: isUtcTime },
    ...{ workerAddress: text, workerName: text, data: objectOf({}, open), supersedes: nullOr(text) },
    files: eachOf(
      objectOf({ fileId: text, version: count, name: text, contentHash: text, canonicalization: text }, open),
      { max: 1_000 },
    ),
  },
  open,
);

/** What is wrong with it, or null. */
export function entryShapeFault(entry: unknown): string | null {
  const [fault] = checkEntryShape(entry, '');
  return fault ? `has an entry of another form: ${fault.path || 'it'} ${fault.message}` : null;
}
