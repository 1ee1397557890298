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
  'ers',
] as const;

export type IdPrefix =
  | (typeof idPrefixes)[number]
  | 'usr'
  | 'ses'
  | 'inv'
  | 'ntc'
  | 'win'
  | 'psk'
  | 'sgr'
  | 'apr'
  | 'prs'
  | 'ptl'
  | 'pag';

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

const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const noDigit = 0xff;
const digitValues = new Uint8Array(128).fill(noDigit);
for (const [value, digit] of [...digits].entries()) digitValues[digit.charCodeAt(0)] = value;

/** An id without its prefix as 16 bytes, which sort like the ids; null for anything that is not an id of this kind. */
export function packId(prefix: IdPrefix, id: string): Buffer | null {
  const start = prefix.length + 1;
  if (id.length !== start + 26 || !id.startsWith(`${prefix}_`)) return null;
  const bytes = Buffer.allocUnsafe(16);
  // The first of the 26 digits holds 3 bits, the others 5.
  let bits = -2;
  let pending = 0;
  let at = 0;
  for (let place = start; place < id.length; place += 1) {
    const value = digitValues[id.charCodeAt(place)] ?? noDigit;
    if (value > (place === start ? 7 : 31)) return null;
    pending = (pending << 5) | value;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at] = pending >>> bits;
    at += 1;
    pending &= (1 << bits) - 1;
  }
  return bytes;
}

/** The id of 16 bytes. */
export function unpackId(prefix: IdPrefix, bytes: Buffer): string {
  let text = `${prefix}_`;
  let bits = 2;
  let pending = 0;
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    bits += 8;
    for (; bits >= 5; pending &= (1 << bits) - 1) {
      bits -= 5;
      text += digits.charAt(pending >>> bits);
    }
  }
  return text;
}

/** Ids of one kind, 16 bytes each. */
export function packIds(prefix: IdPrefix, ids: string[]): Buffer {
  return Buffer.concat(
    ids.map((id) => {
      const bytes = packId(prefix, id);
      if (bytes === null) throw new Error(`${id} is not an id of this kind`);
      return bytes;
    }),
  );
}

/** The opposite of packIds. */
export function unpackIds(prefix: IdPrefix, bytes: Buffer): string[] {
  return Array.from({ length: bytes.length / 16 }, (_, place) =>
    unpackId(prefix, bytes.subarray(place * 16, (place + 1) * 16)),
  );
}
