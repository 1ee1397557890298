/** Bytes as columns have them, and the lower-case hex text that the code has. */

export type HexText = `0x${string}`;

export function toBytea(text: HexText): Buffer {
  return Buffer.from(text.slice(2), 'hex');
}

export function fromBytea(bytes: Buffer): HexText {
  return `0x${bytes.toString('hex')}`;
}
