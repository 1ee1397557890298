/** Canonical JSON (RFC 8785): one text for one value, and a refusal where two readers could see two values. */

/** Says where the value cannot be written canonically, and why; safe to show to whoever sent it. */
export class CanonicalJsonError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CanonicalJsonError';
  }
}

/** As deep as the API reads a body. */
const maxDepth = 64;

/**
 * `name` is what messages call the value. Integers beyond 2^53 are refused, 2^53 itself included: JSON.parse has already
 * rounded 2^53 + 1 to it, so what is hashed might not be what was sent.
 */
export function canonicalJson(value: unknown, name = 'The value'): string {
  const text = write(value, 0);
  if (text !== null) return text;
  check(value, name, 0);
  throw new Error('what cannot be written has a reason');
}

/** Reads JSON text, and refuses a name that occurs twice in one object: readers differ in which of them they take. */
export function parseUnambiguousJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // In valid JSON a string followed by a colon is a name.
  const names = countNamesIn(text);
  if (names !== countNames(value)) throw new CanonicalJsonError('A name occurs twice in one object.');
  return value;
}

/**
 * RFC 8785 takes JavaScript's own form of strings and numbers, so what is left to do is to sort the names by their UTF-16
 * units. Null for what `check` refuses: it is asked only then, because it keeps track of where it is.
 */
function write(value: unknown, depth: number): string | null {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? JSON.stringify(value) : null;
    case 'number':
      return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))
        ? String(value)
        : null;
    case 'boolean':
      return value ? 'true' : 'false';
    case 'object':
      if (value === null) return 'null';
      if (depth >= maxDepth) return null;
      return Array.isArray(value) ? writeItems(value, depth) : writeMembers(value, depth);
    default:
      return null;
  }
}

function writeItems(items: unknown[], depth: number): string | null {
  let text = '[';
  for (let place = 0; place < items.length; place += 1) {
    const item = write(items[place], depth + 1);
    if (item === null) return null;
    text += place === 0 ? item : `,${item}`;
  }
  return `${text}]`;
}

function writeMembers(value: object, depth: number): string | null {
  if (!isPlainObject(value)) return null;
  let text = '{';
  for (const name of Object.keys(value).sort()) {
    const member = write(value[name], depth + 1);
    if (member === null || !name.isWellFormed()) return null;
    text += text === '{' ? `${JSON.stringify(name)}:${member}` : `,${JSON.stringify(name)}:${member}`;
  }
  return `${text}}`;
}

function check(value: unknown, path: string, depth: number): void {
  if (value === null || typeof value === 'boolean') return;
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw new CanonicalJsonError(`${path} holds half of a surrogate pair.`);
    return;
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new CanonicalJsonError(`${path} is not a finite number.`);
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
      throw new CanonicalJsonError(`${path} is an integer beyond 2^53; send it as a string.`);
    }
    return;
  }
  if (depth >= maxDepth) throw new CanonicalJsonError(`${path} is nested more than ${maxDepth} levels deep.`);
  if (Array.isArray(value)) {
    // Not forEach, which steps over holes.
    for (let place = 0; place < value.length; place += 1) check(value[place], `${path}[${place}]`, depth + 1);
    return;
  }
  if (!isPlainObject(value)) throw new CanonicalJsonError(`${path} is not a JSON value.`);
  for (const [key, member] of Object.entries(value)) {
    if (!key.isWellFormed()) {
      throw new CanonicalJsonError(`A name in ${path} holds half of a surrogate pair.`);
    }
    check(member, `${path}.${key}`, depth + 1);
  }
}

/** Whatever has a prototype of its own may have a toJSON too, and would be hashed as something else. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  // A plain object of another realm (a frame, a vm context) has a prototype that again has none.
  const plain = prototype === null || Object.getPrototypeOf(prototype) === null;
  return plain && typeof (value as { toJSON?: unknown }).toJSON !== 'function';
}

function countNamesIn(text: string): number {
  let names = 0;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    at = text.indexOf('"', at + 1);
    while (isEscaped(text, at)) at = text.indexOf('"', at + 1);
    at += 1;
    while (isBlank(text.charCodeAt(at))) at += 1;
    if (text.charCodeAt(at) === colon) names += 1;
  }
  return names;
}

const backslash = 0x5c;
const colon = 0x3a;

/** After an odd number of backslashes. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === backslash) first -= 1;
  return (at - first) % 2 === 1;
}

/** The four characters that JSON may have between its tokens. */
function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function countNames(value: unknown): number {
  let names = 0;
  const rest = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next !== 'object' || next === null) continue;
    if (!Array.isArray(next)) names += Object.keys(next).length;
    for (const member of Object.values(next)) rest.push(member);
  }
  return names;
}
