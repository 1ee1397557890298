/** Reads parameters, which may be any JSON. Every reader throws a fault that names the parameter. */
import type { Hex } from 'viem';
import { invalid } from './faults.ts';

/** Of call data, and of a raw transaction as in other nodes. */
export const mostDataBytes = 128 * 1024;

/** Null counts as absent, as in other nodes. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** The value if it is given, else undefined. */
export function optional<T>(
  value: unknown,
  read: (value: unknown, name: string) => T,
  name: string,
): T | undefined {
  return isAbsent(value) ? undefined : read(value, name);
}

export function readAddress(value: unknown, name: string): Hex {
  return readBytes(value, name, 20);
}

export function readHash(value: unknown, name: string): Hex {
  return readBytes(value, name, 32);
}

function readBytes(value: unknown, name: string, bytes: number): Hex {
  if (!isHex(value) || value.length !== 2 + 2 * bytes) {
    throw invalid(`${name} must be ${bytes} bytes as hex text that begins with 0x`);
  }
  return lower(value);
}

export function readData(value: unknown, name: string): Hex {
  if (typeof value === 'string' && value.length > 2 + 2 * mostDataBytes) {
    throw invalid(`oversized data: ${name} has more than ${mostDataBytes} bytes`);
  }
  if (!isHex(value) || value.length % 2 !== 0) {
    throw invalid(`${name} must be whole bytes as hex text that begins with 0x`);
  }
  return lower(value);
}

/** Up to 256 bits. */
export function readBigQuantity(value: unknown, name: string): bigint {
  if (!isHex(value) || value.length < 3 || value.length > 66) {
    throw invalid(`${name} must be a number of up to 256 bits as hex text that begins with 0x`);
  }
  return BigInt(value);
}

export function readQuantity(value: unknown, name: string): number {
  const quantity = readBigQuantity(value, name);
  if (quantity > BigInt(Number.MAX_SAFE_INTEGER)) throw invalid(`${name} is too large`);
  return Number(quantity);
}

export function readBoolean(value: unknown, name: string): boolean {
  if (typeof value !== 'boolean') throw invalid(`${name} must be true or false`);
  return value;
}

/** Only the own properties: a name that every object inherits is not a field. */
export function readFields(value: unknown, name: string): Map<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`${name} must be an object`);
  }
  return new Map(Object.entries(value));
}

export function readList(value: unknown, name: string, most: number): unknown[] {
  if (!Array.isArray(value)) throw invalid(`${name} must be an array`);
  if (value.length > most) throw invalid(`${name} has more than ${most} entries`);
  return value;
}

function isHex(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value);
}

function lower(value: string): Hex {
  return value.toLowerCase() as Hex;
}
