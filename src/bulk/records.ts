/** Rows as records: what the service would refuse in them is found before anything is sent. */
import { requestLimits } from '../input/request-limits.ts';
import { findUnstorable } from '../input/storable-json.ts';
import { CanonicalJsonError, canonicalJson } from '../proof/canonical.ts';
import { hasDirectionMark } from '../runtime/visible-text.ts';
import { type Answer, requireContentFault } from './attempts.ts';
import type { ObjectRow } from './rows.ts';
import type { Sent } from './run.ts';
import type { Row } from './units.ts';

export interface RecordForm {
  /** Whether an object is the data itself, and not `{data, externalId}`. */
  isData: boolean;
  /** The member of the data, a path, that is also the record's external id. */
  externalId: string[] | null;
}

/** Members of an exported record that an import does not need. */
const exported = new Set([
  ...['id', 'vaultId', 'vaultAddress', 'version', 'dataHash', 'erased', 'status', 'createdAt', 'anchor'],
]);

/** What surrounds the records in a body, and a record in the list. */
const bodyRoom = 200;
const bodyValues = 4;
const recordValues = 4;

export const mostRecordBytes = requestLimits.dataBytes - bodyRoom;

export function recordRow({ line, end, ...row }: ObjectRow, form: RecordForm): Row {
  if ('fault' in row) return { line, end, fault: row.fault };
  if (!form.isData && row.object.erased === true)
    return { line, end, skipped: 'The data was erased before the export.' };
  const made = recordIn(row.object, form);
  if ('fault' in made) return { line, end, fault: made.fault };
  const json = JSON.stringify(made);
  const bytes = new TextEncoder().encode(json).length;
  const values = valuesOf(made.data) + recordValues;
  const fault = sizeFault(bytes, values);
  return fault === null ? { line, end, json, bytes, values } : { line, end, fault };
}

/** The body of the request that makes these records. */
export function recordsBody(vaultAddress: string, rows: { json: string }[]): string {
  return `{"vaultAddress":${JSON.stringify(vaultAddress)},"records":[${rows.map(({ json }) => json).join(',')}]}`;
}

/** Throws ImportStopped where no other records will be accepted either. */
export function recordsSent(answer: Answer): Sent {
  if (answer.status !== 202) return { refused: requireContentFault(answer) };
  return { ids: (answer.body as { id: string }[]).map(({ id }) => id) };
}

function sizeFault(bytes: number, values: number): string | null {
  if (bytes > mostRecordBytes)
    return `The record is too large: it has ${bytes} bytes as JSON, and may have ${mostRecordBytes}.`;
  return values + bodyValues > requestLimits.jsonValues
    ? `The record has more than ${requestLimits.jsonValues} names and values.`
    : null;
}

type NewRecord = { data: object; externalId?: string };

function recordIn(object: Record<string, unknown>, form: RecordForm): NewRecord | { fault: string } {
  const { data, externalId = '' } = form.isData ? { data: object } : (object as Partial<NewRecord>);
  if (!form.isData) {
    const other = Object.keys(object).find(
      (name) => name !== 'data' && name !== 'externalId' && !exported.has(name),
    );
    if (other !== undefined)
      return {
        fault: `A line is {"data": {…}, "externalId": "…"}, and has no "${other.slice(0, 100)}". Is the line the data itself?`,
      };
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    return { fault: 'data is not a JSON object.' };
  const id = form.externalId === null ? externalId : valueAt(data, form.externalId);
  if (typeof id !== 'string') return { fault: 'The external id is not a text.' };
  const fault = externalIdFault(id) ?? dataFault(data);
  if (fault !== null) return { fault };
  return id === '' ? { data } : { data, externalId: id };
}

function dataFault(data: object): string | null {
  try {
    canonicalJson(data, 'data');
  } catch (error) {
    if (!(error instanceof CanonicalJsonError)) throw error;
    return error.message;
  }
  return findUnstorable(data, 'data');
}

function externalIdFault(id: string): string | null {
  if ([...id].length > requestLimits.externalIdLength)
    return `The external id has more than ${requestLimits.externalIdLength} characters.`;
  if (hasDirectionMark(id)) return 'The external id has characters that change the direction of text.';
  return findUnstorable(id, 'The external id');
}

/** A number is as good as a text; what is missing is an empty id. */
function valueAt(data: object, path: string[]): unknown {
  let value: unknown = data;
  for (const name of path) {
    const inside = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
    value = inside ? (value as Record<string, unknown>)[name] : '';
  }
  return typeof value === 'number' ? String(value) : (value ?? '');
}

/** As the service counts them: what determines how long it parses. */
function valuesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value);
  const commas = Math.max(0, inside.length - 1);
  const names = Array.isArray(value) ? 0 : inside.length;
  return inside.reduce((sum: number, one) => sum + valuesOf(one), 1 + commas + names);
}
