/** Cursors: opaque, signed, bound to the list and the filters they were made for; they never expire. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { AppError } from '../errors.ts';

export type CursorPosition = (string | number)[];

export interface Cursors {
  /** `list` names the list with its workspace and filters; a cursor is only good for the very same. */
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
  function mac(list: CursorList, payload: Buffer): Buffer {
    const filters = Object.entries(list.filters)
      .filter(([, value]) => value !== undefined)
      .sort();
    return createHmac('sha256', secret)
      .update(JSON.stringify([list.name, list.workspaceId, filters]))
      .update('\0')
      .update(payload)
      .digest()
      .subarray(0, macBytes);
  }

  return {
    write(list, position) {
      const payload = Buffer.from(JSON.stringify(position));
      return Buffer.concat([mac(list, payload), payload]).toString('base64url');
    },
    read(list, cursor) {
      const bytes = Buffer.from(cursor, 'base64url');
      const payload = bytes.subarray(macBytes);
      // The text must be the one spelling that we write, so that a cursor cannot be varied and still pass.
      const genuine =
        bytes.length > macBytes &&
        bytes.toString('base64url') === cursor &&
        timingSafeEqual(bytes.subarray(0, macBytes), mac(list, payload));
      if (!genuine) {
        throw new AppError(
          'invalid_cursor',
          'The cursor is not one of ours for this list and these filters.',
        );
      }
      return JSON.parse(payload.toString()) as CursorPosition;
    },
  };
}
