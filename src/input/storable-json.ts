/** Which JSON values can be stored and returned unchanged. */
import { findJsonFault, type JsonRules } from '../runtime/json-fault.ts';

const rules: JsonRules = {
  value(value) {
    if (typeof value === 'number') return Number.isFinite(value) ? null : 'is not a finite number';
    if (typeof value !== 'string') return null;
    if (value.includes('\0')) return 'must not contain a NUL character';
    return value.isWellFormed() ? null : 'must not contain an unpaired surrogate';
  },
  name(name) {
    if (name === '__proto__') return 'is not allowed as a field name';
    return name.includes('\0') || !name.isWellFormed()
      ? 'has a field name that contains a NUL character or an unpaired surrogate'
      : null;
  },
};

/** A sentence about the first text, number or name that PostgreSQL or a receiver cannot handle; null: there is none. */
export function findUnstorable(value: unknown, root = ''): string | null {
  return findJsonFault(value, root, rules);
}
