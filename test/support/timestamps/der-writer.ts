/** Writes DER, and on request what is not quite DER: the encoding of test tokens, certificates and lists. */

export type Bytes = Uint8Array;

/** One element; its length is minimal unless `lengthBytes` asks for more, or for 0: indefinite. */
export function element(tag: number, content: Bytes, lengthBytes?: number): Bytes {
  if (lengthBytes === 0) return join(Uint8Array.of(tag, 0x80), content, Uint8Array.of(0, 0));
  const { length } = content;
  if (length < 128 && lengthBytes === undefined) return join(Uint8Array.of(tag, length), content);
  const count = lengthBytes ?? (length < 256 ? 1 : length < 65_536 ? 2 : 3);
  const size = Array.from(
    { length: count },
    (_, place) => Math.floor(length / 256 ** (count - 1 - place)) & 255,
  );
  return join(Uint8Array.of(tag, 128 + count, ...size), content);
}

export function join(...parts: Bytes[]): Bytes {
  return new Uint8Array(Buffer.concat(parts));
}

export const sequence = (...parts: Bytes[]) => element(0x30, join(...parts));
/** In the order given, sorted or not. */
export const set = (...parts: Bytes[]) => element(0x31, join(...parts));
/** `[number]` around other elements. */
export const around = (number: number, ...parts: Bytes[]) => element(0xa0 + number, join(...parts));
/** `[number]` in place of the tag of a primitive type. */
export const inPlace = (number: number, content: Bytes) => element(0x80 + number, content);

export const nothing: Bytes = new Uint8Array();
export const nullValue = element(5, nothing);
export const boolean = (value: boolean) => element(1, Uint8Array.of(value ? 255 : 0));
export const octets = (content: Bytes) => element(4, content);
export const bits = (content: Bytes, unused = 0) => element(3, join(Uint8Array.of(unused), content));
export const enumerated = (value: number) => element(10, Uint8Array.of(value));
export const utf8 = (text: string) => element(0x0c, ascii(text));
export const printable = (text: string) => element(0x13, ascii(text));
export const ascii = (text: string): Bytes => new TextEncoder().encode(text);

export function integer(value: number | bigint): Bytes {
  let hex = BigInt(value).toString(16);
  if (hex.length % 2 === 1) hex = `0${hex}`;
  if (Number.parseInt(hex.slice(0, 2), 16) > 127) hex = `00${hex}`;
  return element(2, Buffer.from(hex, 'hex'));
}

export function oid(dotted: string): Bytes {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const groups = [arc % 128];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) {
      groups.unshift((left % 128) + 128);
    }
    return groups;
  });
  return element(6, Uint8Array.from(bytes));
}

/** UTCTime up to 2049, GeneralizedTime after it. */
export function time(ms: number): Bytes {
  const digits = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '');
  return Number(digits.slice(0, 4)) < 2050
    ? element(0x17, ascii(digits.slice(2)))
    : element(0x18, ascii(digits));
}

/** With its milliseconds, if it has any. */
export function generalizedTime(ms: number): Bytes {
  const digits = new Date(ms).toISOString().replace(/[-:T]/g, '');
  return element(0x18, ascii(digits.replace(/(\.\d*?)0*Z$/, (_, part) => `${part === '.' ? '' : part}Z`)));
}
