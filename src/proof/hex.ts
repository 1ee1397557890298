/** Bytes and the lower-case hex text that proofs are written in. */
import type { Hex } from 'viem';

export const zeroHash: Hex = `0x${'00'.repeat(32)}`;

export function toHex(bytes: Uint8Array): Hex {
  let text = '0x';
  for (const byte of bytes) text += pairs[byte];
  return text as Hex;
}

export function fromHex(text: string): Uint8Array {
  const bytes = new Uint8Array((text.length - 2) / 2);
  writeHex(text, bytes, 0);
  return bytes;
}

/** Writes the bytes of `text` into `target` from `at` on, without intermediate objects, because batches are large. */
export function writeHex(text: string, target: Uint8Array, at: number): void {
  let valid = text.length % 2 === 0 && text.startsWith('0x');
  for (let place = 2; place < text.length; place += 2) {
    const high = digits[text.charCodeAt(place)] ?? 255;
    const low = digits[text.charCodeAt(place + 1)] ?? 255;
    valid &&= (high | low) < 16;
    target[at + place / 2 - 1] = (high << 4) | low;
  }
  if (!valid) throw new Error(`${text} is not hex`);
}

const pairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** The value of a character code that is a hex digit; 255 for any other. */
const digits = new Uint8Array(128).fill(255);
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  digits[digit.charCodeAt(0)] = value;
  digits[digit.toUpperCase().charCodeAt(0)] = value;
}
