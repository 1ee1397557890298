/**
 * A strict reader of RLP, the encoding of Ethereum's headers, receipts and trie nodes. It accepts only the one form that
 * a value has: the shortest prefix, and nothing after the end.
 */

/** Bytes, or a list of items. */
export type RlpItem = Uint8Array | RlpItem[];

/** What is wrong with the bytes, in words that go on after "the header" and the like. */
export class EvmFault extends Error {
  override name = 'EvmFault';
}

/** Receipt, logs, log, topics: nothing has more. Without a limit, the stack would be one. */
const mostLevels = 4;

/** Throws an EvmFault that begins with `what`, the name of the thing that is read. */
export function decodeRlp(bytes: Uint8Array, what: string): RlpItem {
  const wrong = (how: string): EvmFault => new EvmFault(`${what} is not canonical RLP: ${how}`);

  function read(at: number, end: number, level: number): { item: RlpItem; next: number } {
    const first = bytes[at] ?? 0;
    if (first < 0x80) return { item: bytes.subarray(at, at + 1), next: at + 1 };
    const isList = first >= 0xc0;
    let length = first - (isList ? 0xc0 : 0x80);
    let start = at + 1;
    const isLong = length > 55;
    if (isLong) {
      start += length - 55;
      // Numbers above 2^53 are rounded, and are beyond the end all the same.
      length = numberOf(bytes.subarray(at + 1, start));
    }
    const next = start + length;
    if (next > end) throw wrong('it ends too early');
    if (isLong && (length < 56 || bytes[at + 1] === 0)) throw wrong('a length is longer than necessary');
    if (!isList) {
      if (length === 1 && (bytes[start] ?? 0) < 0x80) throw wrong('a byte has a prefix');
      return { item: bytes.subarray(start, next), next };
    }
    if (level === mostLevels) throw wrong(`it has more than ${mostLevels} levels`);
    const item: RlpItem[] = [];
    for (let place = start; place < next; ) {
      const inner = read(place, next, level + 1);
      item.push(inner.item);
      place = inner.next;
    }
    return { item, next };
  }

  if (bytes.length === 0) throw wrong('it is empty');
  const { item, next } = read(0, bytes.length, 0);
  if (next !== bytes.length) throw wrong('it has bytes after its end');
  return item;
}

export function listOf(item: RlpItem | undefined, what: string): RlpItem[] {
  if (!Array.isArray(item)) throw new EvmFault(`${what} is not a list`);
  return item;
}

/** Bytes; with `length`, exactly that many. */
export function bytesOf(item: RlpItem | undefined, what: string, length?: number): Uint8Array {
  if (!(item instanceof Uint8Array)) throw new EvmFault(`${what} is not bytes`);
  if (length !== undefined && item.length !== length) throw new EvmFault(`${what} is not ${length} bytes`);
  return item;
}

/** An integer without leading zeros, up to 2^53 − 1. */
export function integerOf(item: RlpItem | undefined, what: string): number {
  const bytes = bytesOf(item, what);
  const value = numberOf(bytes);
  if (bytes[0] === 0 || !Number.isSafeInteger(value)) {
    throw new EvmFault(`${what} is not an integer from 0 to ${Number.MAX_SAFE_INTEGER}`);
  }
  return value;
}

function numberOf(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => sum * 256 + byte, 0);
}
