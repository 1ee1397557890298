/** What allows a worker to inspect or certify work. A file of its own, because browsers check sign-offs, too. */
import { utcTime } from '../../proof/utc-time.ts';

export interface Licence {
  /** Such as B1.1 or C; null: none. */
  category: string | null;
  /** Which work it allows, in the organisation's own terms. */
  scope: string;
  number: string;
  /** Who issued it. */
  authority: string;
  /** ISO 8601, as are the others; null: from the beginning. */
  validFrom: string | null;
  /** Null: no expiry. */
  expiresAt: string | null;
  /** Null: not suspended. */
  suspendedAt: string | null;
}

/** A licence as it may be stored: earlier versions had no more than these. */
export type StoredLicence = Pick<Licence, 'scope' | 'number' | 'authority' | 'expiresAt'> & Partial<Licence>;

export function wholeLicence(stored: StoredLicence): Licence {
  return { category: null, validFrom: null, suspendedAt: null, ...stored };
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

export interface LicenceFault {
  code: 'licence_expired' | 'licence_suspended' | 'licence_not_yet_valid';
  /** Continues "The licence ...". */
  message: string;
}

/**
 * Why the licence does not count at that time (in milliseconds since 1970), or null. Each limit takes effect at its exact
 * time. A limit that is no time is in force: a licence whose end nobody can read does not last for ever.
 */
export function licenceFault(
  { validFrom, expiresAt, suspendedAt }: Licence,
  at: number,
): LicenceFault | null {
  const reached = (time: string | null) => time !== null && !(utcTime(time) > at);
  if (reached(expiresAt)) return { code: 'licence_expired', message: `expired at ${expiresAt}` };
  if (reached(suspendedAt))
    return { code: 'licence_suspended', message: `is suspended since ${suspendedAt}` };
  if (validFrom === null || utcTime(validFrom) <= at) return null;
  return { code: 'licence_not_yet_valid', message: `is valid only from ${validFrom}` };
}
