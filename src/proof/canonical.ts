/** Canonical JSON (RFC 8785): one text for one value, and a refusal where two readers could see two values. */
import { findJsonFault } from '../runtime/json-fault.ts';
import { maxJsonDepth } from '../runtime/json-text.ts';

/** Says where the value cannot be written canonically, and why; safe to show to whoever sent it. */
export class CanonicalJsonError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CanonicalJsonError';
  }
}

/**
 * `name` is what messages call the value. Integers beyond 2^53 are refused, 2^53 itself included: JSON.parse has already
 * rounded 2^53 + 1 to it, so what is hashed might not be what was sent.
 */
export function canonicalJson(value: unknown, name = 'The value'): string {
  const text = write(value, 0);
  if (text !== null) return text;
  const fault = findJsonFault(value, name, { value: whyNot, name: whyNotName });
  throw fault === null ? new Error('what cannot be written has a reason') : new CanonicalJsonError(fault);
}

/**
 * RFC 8785 takes JavaScript's own form of strings and numbers, so what is left to do is to sort the names by their UTF-16
 * units. Null for what cannot be written: only then is it looked for where and why.
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
      if (depth >= maxJsonDepth) return null;
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

function whyNot(value: unknown, depth: number): string | null {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? null : 'contains an unpaired surrogate';
    case 'number':
      if (!Number.isFinite(value)) return 'is not a finite number';
      return Number.isInteger(value) && !Number.isSafeInteger(value)
        ? 'is an integer beyond 2^53; send it as a string'
        : null;
    case 'boolean':
      return null;
    default:
      if (value === null) return null;
      if (depth >= maxJsonDepth) return `is nested more than ${maxJsonDepth} levels deep`;
      return Array.isArray(value) || isPlainObject(value) ? null : 'is not a JSON value';
  }
}

function whyNotName(name: string): string | null {
  return name.isWellFormed() ? null : 'has a name that contains an unpaired surrogate';
}

/** Whatever has a prototype of its own may have a toJSON too, and would be hashed as something else. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  // A plain object of another realm (a frame, a vm context) has a prototype that again has none.
  const plain = prototype === null || Object.getPrototypeOf(prototype) === null;
  return plain && typeof (value as { toJSON?: unknown }).toJSON !== 'function';
}
