/**
 * Whose key made a signature on secp256k1: the recovery of SEC 1, 4.1.6. It handles no secret, so its time may depend on
 * its input; it is short, because a web page carries it. A test compares it with another implementation.
 */
import type { Hex } from 'viem';
import { toHex } from './hex.ts';
import { plainKeccak } from './keccak.ts';

/** X, Y and Z: the point (X / Z², Y / Z³); Z is 0 at infinity. */
type Point = [bigint, bigint, bigint];

const prime = 2n ** 256n - 2n ** 32n - 977n;
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const generator: Point = [
  0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
  1n,
];
const infinity: Point = [0n, 1n, 0n];

/** `signature`: r, s and v of 27 or 28. The lower-case address; null when no key can have made it. */
export function addressOf(digest: Uint8Array, signature: Uint8Array): Hex | null {
  const r = numberOf(signature.subarray(0, 32));
  const s = numberOf(signature.subarray(32, 64));
  if (r === 0n || r >= order || s === 0n || s >= order) return null;
  const square = modulo(r ** 3n + 7n, prime);
  const root = power(square, (prime + 1n) / 4n);
  if (modulo(root * root, prime) !== square) return null;
  const isOdd = BigInt((signature[64] ?? 0) - 27);
  const point: Point = [r, (root & 1n) === isOdd ? root : prime - root, 1n];
  const inverse = invert(r, order);
  const key = sumOf(
    [generator, modulo(-numberOf(digest) * inverse, order)],
    [point, modulo(s * inverse, order)],
  );
  const [x, y, z] = key;
  if (z === 0n) return null;
  const shrink = invert(z, prime);
  const bytes = new Uint8Array(64);
  write(modulo(x * shrink ** 2n, prime), bytes, 0);
  write(modulo(y * shrink ** 3n, prime), bytes, 32);
  return toHex(plainKeccak(bytes).subarray(12));
}

/** Multiples of two points, bit by bit at once. */
function sumOf([one, times]: [Point, bigint], [other, also]: [Point, bigint]): Point {
  const both = add(one, other);
  let sum = infinity;
  for (let bit = 255n; bit >= 0n; bit -= 1n) {
    sum = double(sum);
    const [isOne, isOther] = [(times >> bit) & 1n, (also >> bit) & 1n];
    if (isOne && isOther) sum = add(sum, both);
    else if (isOne) sum = add(sum, one);
    else if (isOther) sum = add(sum, other);
  }
  return sum;
}

function double([x, y, z]: Point): Point {
  if (z === 0n) return infinity;
  const square = modulo(y * y, prime);
  const middle = modulo(4n * x * square, prime);
  const slope = modulo(3n * x * x, prime);
  const next = modulo(slope * slope - 2n * middle, prime);
  return [next, modulo(slope * (middle - next) - 8n * square * square, prime), modulo(2n * y * z, prime)];
}

function add(one: Point, other: Point): Point {
  const [[x1, y1, z1], [x2, y2, z2]] = [one, other];
  if (z1 === 0n) return other;
  if (z2 === 0n) return one;
  const [squared1, squared2] = [modulo(z1 * z1, prime), modulo(z2 * z2, prime)];
  const [u1, u2] = [modulo(x1 * squared2, prime), modulo(x2 * squared1, prime)];
  const [s1, s2] = [modulo(y1 * squared2 * z2, prime), modulo(y2 * squared1 * z1, prime)];
  if (u1 === u2) return s1 === s2 ? double(one) : infinity;
  const [run, rise] = [u2 - u1, s2 - s1];
  const squaredRun = modulo(run * run, prime);
  const cubedRun = modulo(squaredRun * run, prime);
  const shared = modulo(u1 * squaredRun, prime);
  const next = modulo(rise * rise - cubedRun - 2n * shared, prime);
  return [next, modulo(rise * (shared - next) - s1 * cubedRun, prime), modulo(run * z1 * z2, prime)];
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let bit = 255n; bit >= 0n; bit -= 1n) {
    result = modulo(result * result, prime);
    if ((exponent >> bit) & 1n) result = modulo(result * base, prime);
  }
  return result;
}

/** By Euclid's algorithm. */
function invert(value: bigint, by: bigint): bigint {
  let [low, high] = [modulo(value, by), by];
  let [result, next] = [1n, 0n];
  while (low > 1n) {
    const times = high / low;
    [low, high] = [high - low * times, low];
    [result, next] = [next - result * times, result];
  }
  return modulo(result, by);
}

function modulo(value: bigint, by: bigint): bigint {
  const rest = value % by;
  return rest < 0n ? rest + by : rest;
}

function numberOf(bytes: Uint8Array): bigint {
  return BigInt(toHex(bytes));
}

function write(value: bigint, bytes: Uint8Array, at: number): void {
  for (let place = 31, rest = value; place >= 0; place -= 1, rest >>= 8n)
    bytes[at + place] = Number(rest & 255n);
}
