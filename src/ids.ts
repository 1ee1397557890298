/** Identifiers: a prefix that names the kind, then 26 characters that sort by the time they were made. */
import { monotonicFactory } from 'ulid';
import { smallRandomBytes } from './random.ts';

export type IdPrefix =
  | 'ws'
  | 'vlt'
  | 'fil'
  | 'rec'
  | 'ast'
  | 'mnt'
  | 'wrk'
  | 'evt'
  | 'whe'
  | 'dlv'
  | 'key'
  | 'aud';

// Monotonic: two ids made in the same millisecond by this process still sort in the order they were made.
const sortable = monotonicFactory(() => smallRandomBytes(1).readUInt8() / 256);

export function newId(prefix: IdPrefix): string {
  return `${prefix}_${sortable()}`;
}
