/** Parses JSON text that has one meaning for every reader: no duplicate names in an object, no number that changes. */
import { type JsonStep, jsonPath } from './json-fault.ts';

/** Explains why the text cannot be used; safe to show to the sender. */
export class JsonTextError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'JsonTextError';
  }
}

/** Maximum nesting of record data, metadata and the data of an entry. */
export const maxJsonDepth = 64;

/** Levels around such a value: a list of objects in a request body, a line of a dossier. */
const wrapping = 8;

export interface JsonLimits {
  /** Names and values together: they determine the parsing time. */
  values: number;
}

/** Throws SyntaxError for invalid JSON, JsonTextError for JSON that exceeds the limits or is ambiguous. */
export function parseJsonText(
  text: string,
  limits: JsonLimits = { values: Number.POSITIVE_INFINITY },
): unknown {
  // Before parsing, so that JSON beyond the limits is never built.
  const names = scan(text, limits);
  const value: unknown = JSON.parse(text);
  if (names !== countNames(value)) throw new JsonTextError('A field name occurs twice in one object.');
  return value;
}

const blank = 0x20;
const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;

/** Scans the text once, checks numbers, nesting and the number of values, and counts the names. */
function scan(text: string, limits: JsonLimits): number {
  let names = 0;
  let depth = 0;
  let commas = 0;
  let opened = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= blank) continue;
    if (code === quote) {
      at = endOfString(text, at);
    } else if (code === colon) names += 1;
    else if (code === 0x2c) commas += 1;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      opened += 1;
      if (depth > maxJsonDepth + wrapping) {
        throw new JsonTextError(`${pathTo(text, at)} is nested more than ${maxJsonDepth} levels deep.`);
      }
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
    else if (isInNumber(code) && !isLetter(code)) {
      const begin = at;
      while (isInNumber(text.charCodeAt(at + 1))) at += 1;
      checkNumber(text, begin, at + 1);
    } else if (isLetter(code)) {
      // true, false or null: their e is not an exponent.
      while (isLetter(text.charCodeAt(at + 1))) at += 1;
    }
    if (names + commas + opened > limits.values) {
      throw new JsonTextError(`The JSON has more than ${limits.values} names and values.`);
    }
  }
  return names;
}

/**
 * The position of the closing quote of the string that begins here, or the end of the text: that is not JSON, and the
 * parser says so. Goes unit by unit: a search for the next quote took eight times as long where every quote is escaped.
 */
function endOfString(text: string, begin: number): number {
  for (let at = begin + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at += 1;
  }
  return text.length;
}

function isLetter(code: number): boolean {
  return code >= 0x61 && code <= 0x7a;
}

/** Digits, signs, the decimal point, e and E. */
function isInNumber(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    code === 0x2d ||
    code === 0x2e ||
    code === 0x2b ||
    (code | 0x20) === 0x65
  );
}

/** The path of the value at this position of the text. */
function pathTo(text: string, end: number): string {
  const steps: JsonStep[] = [];
  for (let at = 0; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const begin = at;
      at = endOfString(text, begin);
      if (typeof steps.at(-1) === 'string') steps[steps.length - 1] = nameIn(text.slice(begin, at + 1));
    } else if (code === 0x7b) steps.push('');
    else if (code === 0x5b) steps.push(0);
    else if (code === 0x7d || code === 0x5d) steps.pop();
    else if (code === 0x2c) {
      const step = steps.at(-1);
      if (typeof step === 'number') steps[steps.length - 1] = step + 1;
    }
  }
  return jsonPath('', steps) || 'The value';
}

/** The string may also be a value, but then the next name replaces it. */
function nameIn(text: string): string {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A double preserves any 15 digits, unless it is close to zero. */
const surelyKept = { digits: 15, above: 1e-300 };

function checkNumber(text: string, begin: number, end: number): void {
  const short = end - begin <= surelyKept.digits;
  if (short && !hasExponent(text, begin, end)) return;
  const written = text.slice(begin, end);
  const value = Number(written);
  // Not a number, such as 0.1.0: JSON.parse will reject it.
  if (Number.isNaN(value)) return;
  const size = Math.abs(value);
  if (short && size > surelyKept.above && size <= Number.MAX_VALUE) return;
  if (isSameNumber(written, value)) return;
  throw new JsonTextError(`${pathTo(text, begin)} would be read as ${value}; send it as a string.`);
}

function hasExponent(text: string, begin: number, end: number): boolean {
  for (let at = begin; at < end; at += 1) if ((text.charCodeAt(at) | 0x20) === 0x65) return true;
  return false;
}

/**
 * Whether the number is what is read of it, rounded to as many digits as were written; some programs write all 17 digits of a
 * double. What has more would be read as another number.
 */
function isSameNumber(written: string, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  // As programs write all digits, which is soon told.
  if (written.length > 17 && value.toPrecision(17) === written) return true;
  const meant = digitsOf(written);
  if (meant.count === 0) return value === 0;
  if (meant.count > 17) return false;
  const rounded = value.toPrecision(meant.count);
  if (rounded === written || isSameDecimal(written, meant, rounded)) return true;
  // The shortest form is rounded the other way where the number is half-way.
  return isSameDecimal(written, meant, String(value));
}

interface Digits {
  /** Where the first digit is that is not 0; -1: there is none. */
  first: number;
  /** From there to the last one that is not 0. */
  count: number;
  /** The power of ten of the first. */
  power: number;
}

/** Without a text or a list for each number: those made tens of thousands of long numbers take 100 ms. Linear in the length. */
function digitsOf(number: string): Digits {
  const digits = { first: -1, count: 0, power: 0 };
  /** Digits since the first, and where the point comes after them. */
  let seen = 0;
  let zerosAfterPoint = 0;
  let pointAt = -1;
  let isAfterPoint = false;
  let at = 0;
  for (; at < number.length; at += 1) {
    const code = number.charCodeAt(at);
    if (code === 0x2d) continue;
    if (code === 0x2e) {
      isAfterPoint = true;
      pointAt = seen;
    } else if ((code | 0x20) === 0x65) break;
    else if (digits.first < 0 && code === 0x30) {
      if (isAfterPoint) zerosAfterPoint += 1;
    } else {
      if (digits.first < 0) digits.first = at;
      seen += 1;
      if (code !== 0x30) digits.count = seen;
    }
  }
  const exponent = at < number.length ? Number(number.slice(at + 1)) : 0;
  const before = pointAt < 0 ? seen : pointAt;
  digits.power = exponent + (before > 0 ? before - 1 : -1 - zerosAfterPoint);
  return digits;
}

function isSameDecimal(one: string, { first, count, power }: Digits, other: string): boolean {
  const found = digitsOf(other);
  if (count !== found.count || power !== found.power) return false;
  let place = first;
  let otherPlace = found.first;
  for (let left = count; left > 0; left -= 1) {
    if (one.charCodeAt(place) === 0x2e) place += 1;
    if (other.charCodeAt(otherPlace) === 0x2e) otherPlace += 1;
    if (one.charCodeAt(place) !== other.charCodeAt(otherPlace)) return false;
    place += 1;
    otherPlace += 1;
  }
  return true;
}

function countNames(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let names = 0;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) names += countNames(value[at]);
    return names;
  }
  for (const name of Object.keys(value)) names += 1 + countNames((value as Record<string, unknown>)[name]);
  return names;
}
