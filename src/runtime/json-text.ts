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
  const read = String(value);
  if (read === written || isSameNumber(written, value)) return;
  throw new JsonTextError(`${pathTo(text, begin)} would be read as ${read}; send it as a string.`);
}

function hasExponent(text: string, begin: number, end: number): boolean {
  for (let at = begin; at < end; at += 1) if ((text.charCodeAt(at) | 0x20) === 0x65) return true;
  return false;
}

function isSameNumber(written: string, value: number): boolean {
  const meant = decimal(written);
  if (meant === decimal(String(value))) return true;
  // Some programs write all 17 digits of a double, which is the same number when rounded to them.
  const digits = meant.indexOf('e');
  return digits <= 17 && meant === decimal(value.toPrecision(digits));
}

/** One text per number: its digits without leading and trailing zeros, and the power of ten. Linear in the length. */
function decimal(number: string): string {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = whole + fraction;
  let first = 0;
  while (digits.charCodeAt(first) === 0x30) first += 1;
  let last = digits.length;
  while (last > first && digits.charCodeAt(last - 1) === 0x30) last -= 1;
  if (first === last) return '0';
  return `${digits.slice(first, last)}e${Number(exponent) - fraction.length + digits.length - last}`;
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
