/** Identifiers: a prefix for the kind, then 26 characters that sort by creation time. */
import { decodeTime, encodeTime, monotonicFactory } from 'ulid';
import { smallRandomBytes } from './random.ts';

export const idPrefixes = [
  'ws',
  'vlt',
  'fil',
  'blb',
  'trf',
  'val',
  'rec',
  'ast',
  'itv',
  'mnt',
  'dos',
  'wrk',
  'evt',
  'whe',
  'dlv',
  'rpl',
  'key',
  'aud',
] as const;

export type IdPrefix = (typeof idPrefixes)[number] | 'usr' | 'ses' | 'inv';

// Monotonic: ids created in the same millisecond by this process still sort in order of creation.
const sortable = monotonicFactory(() => smallRandomBytes(1).readUInt8() / 256);

export function newId(prefix: IdPrefix): string {
  return `${prefix}_${sortable()}`;
}

/** Sorts before every id created at this time or later, and after every earlier one. */
export function idBound(prefix: IdPrefix, time: Date): string {
  return `${prefix}_${encodeTime(Math.max(0, time.getTime()))}`;
}

/** When an id was created, to the millisecond. */
export function timeOf(id: string): Date {
  return new Date(decodeTime(id.slice(id.indexOf('_') + 1)));
}
