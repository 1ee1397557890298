/** Sign-offs that say when the service received them, rightly or wrongly written. */
import type { SignoffDocument } from '../../../src/proof/signoff/signoff-document.ts';
import type { Outcome } from './vector.ts';

type Row = [name: string, about: string, document: object, outcome: Outcome];

/** `good`: by a passkey; `key`: by the worker's own key. */
export function receivedRows(
  { good, key }: Record<'good' | 'key', SignoffDocument>,
  passes: Outcome,
  fails: Outcome,
): Row[] {
  const received = (document: SignoffDocument, receivedAt: string | null) => ({ ...document, receivedAt });
  const at = '2026-11-15T02:10:00.000Z';
  const dayLater = '2026-11-16T02:10:00.000Z';
  return [
    [
      'received-later',
      'By a passkey, and received by the service a day later.',
      received(good, dayLater),
      passes,
    ],
    ['own-key-received', "By the worker's own key, and received at once.", received(key, at), passes],
    [
      'received-part-of-a-second',
      'Received at a time with a part of a second.',
      received(good, '2026-11-16T02:10:00.500Z'),
      fails,
    ],
    [
      'received-on-no-day',
      'Received on a day that there is not.',
      received(good, '2027-02-29T02:10:00.000Z'),
      fails,
    ],
    ['received-before-1970', 'Received before 1970.', received(good, '1969-12-31T23:59:59.000Z'), fails],
    ['received-null', 'Received never.', received(good, null), fails],
    ['received-at-24', 'Received at 24:00.', received(good, '2026-11-16T24:00:00.000Z'), fails],
    [
      'received-before-it-was-signed',
      'Received before it was signed: the rules about entries judge that.',
      received(good, '2026-11-15T02:09:00.000Z'),
      passes,
    ],
  ];
}
