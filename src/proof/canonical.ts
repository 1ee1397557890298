/** Canonical JSON (RFC 8785): one text for each value, and a refusal where two parsers could read two values. */
import { findJsonFault } from '../runtime/json-fault.ts';
import { maxJsonDepth } from '../runtime/json-text.ts';

/** Says where and why the value has no canonical form; safe to show to the sender. */
export class CanonicalJsonError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CanonicalJsonError';
  }
}

/**
 * `name` is the name of the value in messages. Integers from 2^53 on are refused, 2^53 included: JSON.parse has already
 * rounded 2^53 + 1 to it, so what is hashed might not be what was sent.
 */
export function canonicalJson(value: unknown, name = 'The value'): string {
  const text = canonicalJsonOrNull(value);
  if (text !== null) return text;
  const fault = findJsonFault(value, name, { value: whyNot, name: whyNotName });
  throw fault === null ? new Error('what cannot be written has a reason') : new CanonicalJsonError(fault);
}

/** Null for a value that canonicalJson refuses. */
export function canonicalJsonOrNull(value: unknown): string | null {
  return write(value, 0);
}

/**
 * RFC 8785 uses JavaScript's own form of strings and numbers, so all that is left is to sort the names by their UTF-16
 * units. Null for a value without a canonical form: only then does the caller look for the place and the reason.
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

/** An object with its own prototype may have a toJSON, too, and would be hashed as something else. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  // The prototype of a plain object from another realm (a frame, a vm context) has no prototype itself.
  const plain = prototype === null || Object.getPrototypeOf(prototype) === null;
  return plain && typeof (value as { toJSON?: unknown }).toJSON !== 'function';
}
