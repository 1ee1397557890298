/** The codes that an authenticator app shows. */
import { createHmac } from 'node:crypto';

/** RFC 6238 with the usual parameters; `secret` in base32. */
export function codeOf(secret: string, at: number): string {
  const bits = [...secret.replace(/=+$/, '')]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const digest = createHmac('sha1', key).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

/** The next code, which is already valid: the current one may have been used to enable the codes, and no longer work. */
export function nextCodeOf(secret: string): string {
  return codeOf(secret, Date.now() + 30_000);
}

/** A code that is not valid around now: a fixed one would be right now and then. */
export function wrongCodeOf(secret: string): string {
  const halfMinutes = Array.from({ length: 241 }, (_, place) => place - 120);
  const right = new Set(halfMinutes.map((offset) => codeOf(secret, Date.now() + offset * 30_000)));
  for (let code = 0; ; code += 1) {
    const text = String(code).padStart(6, '0');
    if (!right.has(text)) return text;
  }
}
