/** Which directories on a path an account may not traverse, judged by their mode bits. */
import { chmod, chown, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface Identity {
  uid: number;
  gid: number;
}

/** The given directory and its parents, outermost first, that the account may not search. */
export async function closedDirectories(directory: string, who: Identity): Promise<string[]> {
  const closed: string[] = [];
  for (let path = directory; ; path = dirname(path)) {
    if (!mayPass(await stat(path), who)) closed.unshift(path);
    if (path === dirname(path)) return closed;
  }
}

/** Whether the account may search a directory, or execute a file, of this owner and mode. */
export function mayPass(entry: { uid: number; gid: number; mode: number }, who: Identity): boolean {
  if (entry.uid === who.uid) return (entry.mode & 0o100) !== 0;
  if (entry.gid === who.gid) return (entry.mode & 0o010) !== 0;
  return (entry.mode & 0o001) !== 0;
}

/**
 * Lets the account traverse a directory of ours that is closed to everybody else: changes its group, which had no
 * rights there, to the account's group and lets that search it. A directory that already grants rights is the
 * operator's choice.
 */
export async function letPass(directory: string, who: Identity): Promise<void> {
  const entry = await stat(directory);
  if (mayPass(entry, who) || (entry.mode & 0o077) !== 0) return;
  try {
    await chown(directory, entry.uid, who.gid);
    await chmod(directory, 0o710);
  } catch {
    // Some file systems have no owners; then the directory is reported as closed.
  }
}
