/** Converts between the bytes of a column and the lower-case hex text that the code uses. */

export type HexText = `0x${string}`;

export function toBytea(text: HexText): Buffer {
  return Buffer.from(text.slice(2), 'hex');
}

export function fromBytea(bytes: Buffer): HexText {
  return `0x${bytes.toString('hex')}`;
}
