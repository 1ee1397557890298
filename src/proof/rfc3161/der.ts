/**
 * DER, the encoding of tokens and certificates: a strict reader, and a small writer for requests. The reader takes
 * nothing that can be written in two ways, so that two verifiers cannot read one document differently.
 */

/** Why a document is refused: a sentence for the verdict. */
export class TokenFault extends Error {}

export const formFault = (what: string) =>
  new TokenFault(`${what} is not in the form that its standard prescribes.`);

/** Refuses the document unless this holds. */
export function must(holds: boolean, fault: string): asserts holds {
  if (!holds) throw new TokenFault(fault);
}

/** What cannot be read says nothing: for parts that decide nothing by themselves. */
export function readOr<Value>(otherwise: Value, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof TokenFault) return otherwise;
    throw error;
  }
}

export interface Der {
  /** The first byte: class, whether it contains other elements, and a number below 31. */
  tag: number;
  value: Uint8Array;
  /** The whole element, as it was found. */
  bytes: Uint8Array;
}

export const boolean = 0x01;
export const integer = 0x02;
export const bitString = 0x03;
export const octetString = 0x04;
export const nullTag = 0x05;
export const objectId = 0x06;
export const enumerated = 0x0a;
export const generalizedTime = 0x18;
export const sequence = 0x30;
export const set = 0x31;
/** A UTCTime; where one is wanted, a GeneralizedTime will do. */
export const time = 0x17;

/** The tag of `[number]` around other elements. */
export const around = (number: number) => 0xa0 + number;
/** The tag of `[number]` in place of that of a primitive type. */
export const inPlace = (number: number) => 0x80 + number;

const maxDepth = 32;
/** A list of revoked certificates of 1 MiB has fewer. */
const maxElements = 2 ** 18;
const maxOidBytes = 64;

/** Checks the whole document, not only what is used of it. `what` names it in faults: "The token". */
export function readDer(bytes: Uint8Array, what: string, wanted = sequence): Der {
  const refuse = (why: string) => new TokenFault(`${what} is not valid DER: ${why}.`);
  let elements = 0;
  const check = (from: number, to: number, depth: number): void => {
    for (let at = from; at < to; ) {
      const { tag, start, end, fault } = headerAt(bytes, at, to);
      const wrong = fault || valueFault(tag, bytes, start, end);
      if (wrong !== '') throw refuse(wrong);
      elements += 1;
      if (elements > maxElements || depth > maxDepth) throw refuse('it has too many elements or levels');
      if (tag & 0x20) check(start, end, depth + 1);
      at = end;
    }
  };
  const { tag, start, end, fault } = headerAt(bytes, 0, bytes.length);
  if (fault === '' && end < bytes.length) throw refuse('bytes follow its end');
  check(0, bytes.length, 1);
  if (tag !== wanted) throw formFault(what);
  return { tag, value: bytes.subarray(start), bytes };
}

/** The elements inside another one. */
export function elementsOf({ value }: Der): Der[] {
  const elements: Der[] = [];
  for (let at = 0; at < value.length; ) {
    const { tag, start, end, fault } = headerAt(value, at, value.length);
    if (fault !== '') throw formFault('An element');
    elements.push({ tag, value: value.subarray(start, end), bytes: value.subarray(at, end) });
    at = end;
  }
  return elements;
}

/** The elements that a list may have: a tag in brackets is optional. */
type Shape = readonly (number | readonly [number])[];
type Fields<Wanted extends Shape> = {
  -readonly [At in keyof Wanted]: Wanted[At] extends number ? Der : Der | undefined;
};

/** The elements of a sequence, which must have exactly this shape. */
export function fieldsOf<const Wanted extends Shape>(
  der: Der,
  what: string,
  shape: Wanted,
  tag = sequence,
): Fields<Wanted> {
  const elements = elementsOf(der);
  let at = 0;
  const fields = shape.map((wanted) => {
    const [one] = typeof wanted === 'number' ? [wanted] : wanted;
    const next = elements[at];
    if (next?.tag === one || (one === time && next?.tag === generalizedTime)) {
      at += 1;
      return next;
    }
    if (one === wanted) throw formFault(what);
    return undefined;
  });
  if (at < elements.length || der.tag !== tag) throw formFault(what);
  return fields as Fields<Wanted>;
}

/** All elements of a list, each with this tag. */
export function listOf(der: Der, what: string, tag = sequence): Der[] {
  const elements = elementsOf(der);
  if (elements.some((element) => element.tag !== tag)) throw formFault(what);
  return elements;
}

/** The one element inside. */
export function onlyOf(der: Der, what: string): Der {
  const [only, more] = elementsOf(der);
  if (only === undefined || more !== undefined) throw formFault(what);
  return only;
}

/** In dots: "2.5.29.37". */
export function oidOf({ value }: Der): string {
  const arcs: bigint[] = [];
  let arc = 0n;
  for (const byte of value) {
    arc = arc * 128n + BigInt(byte & 127);
    if (byte > 127) continue;
    arcs.push(arc);
    arc = 0n;
  }
  const [joined = 0n, ...rest] = arcs;
  const first = joined < 80n ? joined / 40n : 2n;
  return [first, joined - first * 40n, ...rest].join('.');
}

/** An INTEGER from 0 to 2³¹ - 1; also one in place of whose tag there is another, which readDer could not check. */
export function smallInteger({ value }: Der, what: string): number {
  const [first = 128] = value;
  must(valueFault(integer, value) === '' && first < 128 && value.length < 5, `${what} is out of range.`);
  return value.reduce((sum, byte) => sum * 256 + byte, 0);
}

export function isNumber({ value }: Der, number: number): boolean {
  return value.length === 1 && value[0] === number;
}

/** A BOOLEAN, also in place of whose tag there is another; one that is left out is false. */
export function isTrue(der: Der | undefined, what: string): boolean {
  if (der !== undefined && valueFault(boolean, der.value) !== '') throw formFault(what);
  return der?.value[0] === 255;
}

/** In milliseconds. A fraction is cut off after them, and only allowed where the standard allows it. */
export function timeOf({ tag, value }: Der, what: string, { fraction = false } = {}): number {
  const [, digits] = (fraction && /^\.(\d{0,8}[1-9])Z$/.exec(textOf(value.subarray(14)))) || [];
  const ms = digits === undefined ? timeAt(tag, value) : timeAt(tag, [...value.subarray(0, 14), zulu]);
  must(!Number.isNaN(ms), `${what} has a time that is not valid.`);
  return ms + Number((digits ?? '').padEnd(3, '0').slice(0, 3));
}

/** The letter Z. */
const zulu = 0x5a;
/** In which the calendar repeats itself. */
const fourCenturies = 146_097 * 86_400_000;

/** A time without a fraction, in milliseconds; NaN if there is no such time. A list of revoked certificates has very many. */
export function timeAt(tag: number, bytes: ArrayLike<number>, start = 0, end = bytes.length): number {
  const digit = (at: number) => {
    const value = (bytes[at] ?? 0) - 48;
    return value >= 0 && value < 10 ? value : Number.NaN;
  };
  const two = (at: number) => 10 * digit(at) + digit(at + 1);
  const short = two(start);
  const year = tag === time ? short + (short < 50 ? 2000 : 1900) : 100 * short + two(start + 2);
  const at = tag === time ? start + 2 : start + 4;
  const month = two(at);
  const day = two(at + 2);
  const hour = two(at + 4);
  const minute = two(at + 6);
  const second = two(at + 8);
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 ? 28 + Number(isLeap) : 30 + ((month + (month >> 3)) & 1);
  const isDay = year >= 0 && month > 0 && month < 13 && day > 0 && day <= days;
  if (!isDay || !(hour < 24 && minute < 60 && second < 60) || end !== at + 11 || bytes[at + 10] !== zulu)
    return Number.NaN;
  const cycle = Math.floor(year / 400);
  return (
    Date.UTC(2000 + year - 400 * cycle, month - 1, day, hour, minute, second) + (cycle - 5) * fourCenturies
  );
}

/** The content of a BIT STRING that consists of whole bytes. */
export function wholeBytes({ value }: Der, what: string): Uint8Array {
  if (value[0] !== 0) throw formFault(what);
  return value.subarray(1);
}

/** Bytes as a text that only these bytes have: a key for a map. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder('latin1').decode(bytes);
}

export function sameBytes(one: Uint8Array, other: Uint8Array | undefined): boolean {
  return one.length === other?.length && isAt(one, other, 0);
}

/** Whether the bytes are there, from `at` on. */
export function isAt(bytes: Uint8Array, inside: Uint8Array, at: number): boolean {
  for (let place = 0; place < bytes.length; place += 1) if (bytes[place] !== inside[at + place]) return false;
  return true;
}

/** One element around the concatenated content. */
export function writeDer(tag: number, ...content: (Uint8Array | number[])[]): Uint8Array {
  const bytes = content.flatMap((part) => [...part]);
  const { length } = bytes;
  const sizes = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Uint8Array.from([tag, ...sizes, ...bytes]);
}

/** The INTEGER of a number that is not negative. */
export function writeInteger(number: bigint): Uint8Array {
  const bytes: number[] = [];
  let left = number;
  do {
    bytes.unshift(Number(left & 255n));
    left >>= 8n;
  } while (left > 0n);
  return writeDer(integer, (bytes[0] ?? 0) > 127 ? [0] : [], bytes);
}

export function writeOid(dotted: string): Uint8Array {
  const [first = 0n, second = 0n, ...rest] = dotted.split('.').map(BigInt);
  const bytes = [first * 40n + second, ...rest].flatMap((arc) => {
    const groups = [Number(arc & 127n)];
    for (let left = arc >> 7n; left > 0n; left >>= 7n) groups.unshift(Number(left & 127n) | 128);
    return groups;
  });
  return writeDer(objectId, bytes);
}

interface Header {
  tag: number;
  /** Where the content begins, and where it ends. */
  start: number;
  end: number;
  /** What is wrong with it; empty when nothing is. */
  fault: string;
}

export function headerAt(bytes: Uint8Array, at: number, to: number): Header {
  const tag = bytes[at] ?? 0;
  const first = bytes[at + 1] ?? 0;
  const count = first > 127 ? first - 128 : 0;
  const start = at + 2 + count;
  let length = count > 0 ? 0 : first;
  for (let place = at + 2; place < start && count < 4; place += 1)
    length = length * 256 + (bytes[place] ?? 0);
  const end = start + length;
  let fault = '';
  if ((tag & 0x1f) === 0x1f || tag === 0) fault = 'a tag is not accepted';
  else if (first === 128) fault = 'a length is indefinite';
  else if (count > 3 || start > to || end > to) fault = 'it is cut off, or a length is too large';
  else if (count > 0 && (length < 128 || length < 256 ** (count - 1))) fault = 'a length is not minimal';
  return { tag, start, end, fault };
}

/** Whether an arc begins with a zero, which it does not need. */
function hasPaddedArc(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    if (bytes[at] === 128 && (at === start || (bytes[at - 1] ?? 0) < 128)) return true;
  }
  return false;
}

/** What is wrong with a value of one of the universal types; empty when nothing is. */
function valueFault(tag: number, bytes: Uint8Array, start = 0, end = bytes.length): string {
  // Not cut out: a list of revoked certificates has very many values.
  const length = end - start;
  const first = length > 0 ? (bytes[start] ?? 0) : 0;
  const second = length > 1 ? (bytes[start + 1] ?? 0) : 0;
  const last = length > 0 ? (bytes[end - 1] ?? 0) : 0;
  const contains = tag === sequence || tag === set;
  // Only these two contain others, and they always do.
  if (tag < 0x40 && (tag > 0x1f || tag === 0x10 || tag === 0x11) && !contains)
    return 'a type has the wrong form';
  switch (tag) {
    case boolean:
      return length === 1 && (first === 0 || first === 255) ? '' : 'a boolean is wrong';
    case integer:
    case enumerated:
      return length === 1 || (length > 1 && (first !== 0 || second > 127) && (first !== 255 || second < 128))
        ? ''
        : 'an integer is not minimal';
    case bitString:
      // Without content no bits can be unused; otherwise the unused ones are zero.
      return length > 0 && first < 8 && (first === 0 || (length > 1 && !(last & (2 ** first - 1))))
        ? ''
        : 'a bit string is wrong';
    case nullTag:
      return length === 0 ? '' : 'a null has content';
    case objectId:
      return length > 0 && length <= maxOidBytes && last < 128 && !hasPaddedArc(bytes, start, end)
        ? ''
        : 'an object identifier is wrong';
    default:
      return '';
  }
}
