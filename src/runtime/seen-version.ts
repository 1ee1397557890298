/** A change that is meant for one version: made only if that is still the newest, so that nobody overwrites another unseen. */
import { AppError } from './errors.ts';

/** The versions that a change is meant for; undefined: whichever there is. */
export type SeenVersions = readonly number[] | undefined;

/** `what`: reads on in "… was changed meanwhile". */
export function requireSeen(seen: SeenVersions, { version }: { version: number }, what: string): void {
  if (seen === undefined || seen.includes(version)) return;
  throw new AppError(
    'precondition_failed',
    `${what} has changed in the meantime: it is now at version ${version}, which is not the one in If-Match. Your request changed nothing. Read it again, then send what you still want to change.`,
  );
}
