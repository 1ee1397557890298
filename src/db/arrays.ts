/**
 * Arrays in PostgreSQL's binary protocol, to send one column of many rows. Nothing is quoted, escaped or parsed on the
 * way. See array_recv and the receive functions of the element types in PostgreSQL's source.
 */

export type ElementType = keyof typeof encoders;

/** Null and undefined both become null. */
export function encodeArray(type: ElementType, values: unknown[]): Buffer {
  const { oid, size, write } = encoders[type];
  let bytes = headBytes;
  let nulls = 0;
  for (const value of values) {
    if (value === null || value === undefined) nulls = 1;
    else bytes += size(value as never);
    bytes += 4;
  }
  const array = Buffer.allocUnsafe(bytes);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(nulls, 4);
  array.writeInt32BE(oid, 8);
  array.writeInt32BE(values.length, 12);
  array.writeInt32BE(1, 16);
  let at = headBytes;
  for (const value of values) {
    if (value === null || value === undefined) {
      at = array.writeInt32BE(-1, at);
      continue;
    }
    const end = write(array, value as never, at + 4);
    array.writeInt32BE(end - at - 4, at);
    at = end;
  }
  return array;
}

/** Number of dimensions, null flag, element type, length, and lower bound. */
const headBytes = 20;

interface Encoder<Value> {
  oid: number;
  size(value: Value): number;
  /** Returns the offset after the value. */
  write(array: Buffer, value: Value, at: number): number;
}

const text: Encoder<string> = {
  oid: 25,
  size: (value) => Buffer.byteLength(value),
  write: (array, value, at) => at + array.write(value, at),
};

const bytea: Encoder<Buffer> = {
  oid: 17,
  size: (value) => value.length,
  write: (array, value, at) => at + value.copy(array, at),
};

const integer: Encoder<number> = {
  oid: 23,
  size: () => 4,
  write: (array, value, at) => array.writeInt32BE(value, at),
};

const boolean: Encoder<boolean> = {
  oid: 16,
  size: () => 1,
  write: (array, value, at) => array.writeUInt8(value ? 1 : 0, at),
};

const bigint: Encoder<number> = {
  oid: 20,
  size: () => 8,
  write: (array, value, at) => array.writeBigInt64BE(BigInt(value), at),
};

/** PostgreSQL counts microseconds from the year 2000. */
const timestamptz: Encoder<Date | string> = {
  oid: 1184,
  size: () => 8,
  write(array, value, at) {
    const ms = (typeof value === 'string' ? Date.parse(value) : value.getTime()) - Date.UTC(2000);
    return array.writeBigInt64BE(BigInt(ms) * 1000n, at);
  },
};

/** The version of the binary format, then the text. */
const jsonb: Encoder<unknown> = {
  oid: 3802,
  size: (value) => 1 + Buffer.byteLength(JSON.stringify(value)),
  write: (array, value, at) => at + 1 + array.write(JSON.stringify(value), array.writeUInt8(1, at)),
};

const encoders = { text, bytea, integer, boolean, bigint, timestamptz, jsonb };
