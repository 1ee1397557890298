/**
 * Arrays in PostgreSQL's binary protocol, to send one column of many rows. Nothing is quoted, escaped or parsed on the
 * way. See array_recv and the receive functions of the element types in PostgreSQL's source.
 */

export type ElementType = keyof typeof encoders;

/** Null and undefined both become null. */
export function encodeArray(type: ElementType, values: readonly unknown[]): Buffer {
  // As text once, not once for its size and once to write it.
  return type === 'jsonb' ? encode(jsonb, values.map(jsonText)) : encode(encoders[type], values);
}

function encode<Value>({ oid, room, write }: Encoder<Value>, values: readonly unknown[]): Buffer {
  let most = headBytes;
  let nulls = 0;
  for (const value of values) {
    if (value === null || value === undefined) nulls = 1;
    else most += room(value as Value);
    most += lengthBytes;
  }
  const array = Buffer.allocUnsafe(most);
  putInteger(array, 1, 0);
  putInteger(array, nulls, 4);
  putInteger(array, oid, 8);
  putInteger(array, values.length, 12);
  putInteger(array, 1, 16);
  let at = headBytes;
  for (const value of values) {
    if (value === null || value === undefined) {
      putInteger(array, -1, at);
      at += lengthBytes;
      continue;
    }
    const end = write(array, value as Value, at + lengthBytes);
    putInteger(array, end - at - lengthBytes, at);
    at = end;
  }
  return at === most ? array : array.subarray(0, at);
}

/** One array with the elements of several, which are of the same type. */
export function joinArrays(arrays: readonly Buffer[]): Buffer {
  const [first] = arrays;
  if (first && arrays.length === 1) return first;
  const filled = arrays.map((array) => array.subarray(headBytes));
  const joined = Buffer.concat([first?.subarray(0, headBytes) ?? Buffer.alloc(headBytes), ...filled]);
  putInteger(joined, arrays.some((array) => array.readInt32BE(4) === 1) ? 1 : 0, 4);
  putInteger(
    joined,
    arrays.reduce((count, array) => count + array.readInt32BE(12), 0),
    12,
  );
  return joined;
}

/** Number of dimensions, null flag, element type, length, and lower bound. */
const headBytes = 20;
/** Before each element. */
const lengthBytes = 4;

interface Encoder<Value> {
  oid: number;
  /** At least what it takes. */
  room(value: Value): number;
  /** Returns the offset after the value. */
  write(array: Buffer, value: Value, at: number): number;
}

/** To measure a short text takes as long as to write it; so it is not measured, and gets the most room it could need. */
const longestUnmeasured = 512;

const text: Encoder<string> = {
  oid: 25,
  room: (value) => (value.length > longestUnmeasured ? Buffer.byteLength(value) : 3 * value.length),
  write: (array, value, at) => at + array.write(value, at),
};

const bytea: Encoder<Buffer> = {
  oid: 17,
  room: (value) => value.length,
  write(array, value, at) {
    array.set(value, at);
    return at + value.length;
  },
};

const integer: Encoder<number> = {
  oid: 23,
  room: () => 4,
  write(array, value, at) {
    putInteger(array, value, at);
    return at + 4;
  },
};

const boolean: Encoder<boolean> = {
  oid: 16,
  room: () => 1,
  write(array, value, at) {
    array[at] = value ? 1 : 0;
    return at + 1;
  },
};

const bigint: Encoder<number> = {
  oid: 20,
  room: () => 8,
  write(array, value, at) {
    putLong(array, value, at);
    return at + 8;
  },
};

const float: Encoder<number> = {
  oid: 701,
  room: () => 8,
  write: (array, value, at) => array.writeDoubleBE(value, at),
};

/** PostgreSQL counts microseconds from the year 2000. */
const timestamptz: Encoder<Date | string> = {
  oid: 1184,
  room: () => 8,
  write(array, value, at) {
    const ms = (typeof value === 'string' ? Date.parse(value) : value.getTime()) - Date.UTC(2000);
    if (Number.isSafeInteger(ms * 1000)) putLong(array, ms * 1000, at);
    else array.writeBigInt64BE(BigInt(ms) * 1000n, at);
    return at + 8;
  },
};

/** The version of the binary format, then the text. */
const jsonb: Encoder<string> = {
  oid: 3802,
  room: (value) => 1 + text.room(value),
  write(array, value, at) {
    array[at] = 1;
    return text.write(array, value, at + 1);
  },
};

function jsonText(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

/** Buffer's own methods check type and range of what they are given, which takes longer than to write it. */
function putInteger(array: Buffer, value: number, at: number): void {
  array[at] = value >>> 24;
  array[at + 1] = value >>> 16;
  array[at + 2] = value >>> 8;
  array[at + 3] = value;
}

/** A safe integer; by way of a BigInt it took ten times as long. */
function putLong(array: Buffer, value: number, at: number): void {
  putInteger(array, Math.floor(value / 2 ** 32), at);
  putInteger(array, value, at + 4);
}

const encoders = { text, bytea, integer, boolean, bigint, float, timestamptz, jsonb } as Record<
  'text' | 'bytea' | 'integer' | 'boolean' | 'bigint' | 'float' | 'timestamptz' | 'jsonb',
  Encoder<unknown>
>;
