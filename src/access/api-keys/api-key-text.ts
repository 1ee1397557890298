/** The format of an API key: `hf_live_`, 30 random base-62 characters, and a checksum that detects typing errors. */
import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefix = 'hf_live_';
const randomLength = 30;
const checksumLength = 6;
const form = new RegExp(`^${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`);

export function newApiKey(): string {
  const random = Array.from({ length: randomLength }, () => alphabet[randomInt(alphabet.length)]).join('');
  return `${prefix}${random}${checksum(prefix + random)}`;
}

/** Whether this can be a key at all; if not, no query is needed. */
export function isApiKey(text: string): boolean {
  return form.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

/** Keys are random enough that a plain hash cannot be reversed. */
export function hashApiKey(key: string): Buffer {
  return Buffer.from(hash('sha256', key), 'hex');
}

/** The part of a key that may be shown again. */
export function hintOf(key: string): string {
  return `${key.slice(0, prefix.length + 4)}…`;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let position = 0; position < checksumLength; position += 1) {
    digits = alphabet.charAt(rest % alphabet.length) + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}
