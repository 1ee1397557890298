/** What callers state about a file: its name, media type, hash and expiry, checked before anything is stored. */

import { findNameFault } from '../../input/file-name.ts';
import { isCalendarDay, isDateTime } from '../../runtime/date-time.ts';
import { AppError } from '../../runtime/errors.ts';

/** Throws for a name under which nobody should save a file. */
export function checkFileName(name: string): string {
  const fault = findNameFault(name);
  if (fault !== null) throw new AppError('invalid_request', fault);
  return name;
}

export const unknownMediaType = 'application/octet-stream';

/** `type/subtype` of RFC 6838, without parameters, in lower case. */
export function checkMediaType(mediaType: string): string {
  const type = mediaType.trim().toLowerCase();
  if (!/^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/.test(type)) {
    throw new AppError(
      'invalid_request',
      'mediaType must be a type and a subtype, such as application/pdf, without parameters.',
    );
  }
  return type;
}

export interface Expiration {
  /** As the caller gave it. */
  text: string;
  /** When the file expires. */
  at: Date;
}

/** A day lasts until its end in UTC. */
export function readExpiration(text: string, now: Date): Expiration {
  const day = isCalendarDay(text) && text >= '0001-01-01';
  if (!day && !isDateTime(text)) {
    throw new AppError(
      'invalid_request',
      'expirationDate must be a calendar day such as 2030-12-31, or a date and time with a time zone such as 2030-12-31T12:00:00Z.',
    );
  }
  const at = new Date(day ? `${text}T23:59:59.999Z` : text);
  if (at <= now) throw new AppError('invalid_request', `expirationDate ${text} is in the past.`);
  return { text, at };
}

/** `contentHash` has been checked by its schema. */
export function hashBytes(contentHash: string): Buffer {
  return Buffer.from(contentHash.slice(2), 'hex');
}
