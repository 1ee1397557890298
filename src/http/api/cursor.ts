/** Cursors: opaque, signed, valid only for the list and filters they were made for; they never expire. */
import { timingSafeEqual } from 'node:crypto';
import { createHmacSha256 } from '../../keys/hmac.ts';
import { AppError } from '../../runtime/errors.ts';

export type CursorPosition = (string | number)[];

export interface Cursors {
  /** `list` names the list with its workspace and filters; a cursor is valid only for exactly these. */
  write(list: CursorList, position: CursorPosition): string;
  read(list: CursorList, cursor: string): CursorPosition;
}

export interface CursorList {
  name: string;
  workspaceId: string;
  filters: Record<string, string | number | boolean | undefined>;
}

const macBytes = 16;

export function createCursors(secret: Buffer): Cursors {
  const hmac = createHmacSha256(secret);

  function mac(list: CursorList, payload: Buffer): Buffer {
    const filters = Object.entries(list.filters)
      .filter(([, value]) => value !== undefined)
      .sort();
    const bound = JSON.stringify([list.name, list.workspaceId, filters]);
    // As latin1, because a forged cursor may contain invalid UTF-8.
    return Buffer.from(hmac(`${bound}\0${payload.toString('latin1')}`, 'hex'), 'hex').subarray(0, macBytes);
  }

  return {
    write(list, position) {
      const payload = Buffer.from(JSON.stringify(position));
      return Buffer.concat([mac(list, payload), payload]).toString('base64url');
    },
    read(list, cursor) {
      const bytes = Buffer.from(cursor, 'base64url');
      const payload = bytes.subarray(macBytes);
      // Must be the exact spelling that we write, so that a cursor cannot be varied and still pass.
      const genuine =
        bytes.length > macBytes &&
        bytes.toString('base64url') === cursor &&
        timingSafeEqual(bytes.subarray(0, macBytes), mac(list, payload));
      if (!genuine) {
        throw new AppError(
          'invalid_cursor',
          'The cursor is not valid for this list and these filters. Pass X-Next-Cursor of the previous page unchanged, or start again without a cursor.',
        );
      }
      return JSON.parse(payload.toString()) as CursorPosition;
    },
  };
}
