/** What allows a worker to inspect or certify work. A file of its own, because browsers check sign-offs, too. */

export interface Licence {
  /** What it allows, in the organisation's own terms. */
  scope: string;
  number: string;
  /** Who issued it. */
  authority: string;
  /** ISO 8601; null: no expiry. */
  expiresAt: string | null;
}

/** What tells one licence from another. */
export type LicenceName = Pick<Licence, 'authority' | 'number'>;

/** Equal for the same licence of the same issuer, however it is written: `AB 12-3` is `ab123`. */
export function licenceKey({ authority, number }: LicenceName): string {
  return `${lettersOf(authority)}/${lettersOf(number)}`;
}

/** Letters and digits alone, unless there are none. */
function lettersOf(text: string): string {
  const plain = text.normalize('NFKC').toLowerCase().replaceAll(/\s/gu, '');
  return plain.replaceAll(/[^\p{L}\p{N}]/gu, '') || plain;
}
