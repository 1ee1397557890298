/** Makes a change only if the version it is based on is still the newest, so that nobody overwrites unseen changes. */
import { AppError } from './errors.ts';

/** The versions that a change may be based on; undefined: any. */
export type SeenVersions = readonly number[] | undefined;

/** `what`: the subject of "… has changed in the meantime". */
export function requireSeen(seen: SeenVersions, { version }: { version: number }, what: string): void {
  if (seen === undefined || seen.includes(version)) return;
  throw new AppError(
    'precondition_failed',
    `${what} has changed in the meantime: it is now at version ${version}, which is not the one in If-Match. Your request changed nothing. Read it again, then send what you still want to change.`,
  );
}
