/** Explains why a file or directory could not be used: the path at fault, which user was refused, and how to fix it. */
import { type Stats, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, resolve } from 'node:path';
import { OperatorError } from './errors.ts';

export interface FileUse {
  /** Begins the sentence: "The data directory". */
  what: string;
  path: string;
  /** The setting that names the path, if there is one. */
  setting?: string;
}

/** Turns a system error into a sentence; returns any other error unchanged. */
export function explainFileFault(error: unknown, { what, path, setting }: FileUse): unknown {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (error instanceof OperatorError || code === undefined || syscall === undefined) return error;
  const { reason, advice } = faultOf(code, resolve(path)) ?? {
    reason: (error as Error).message,
    advice: null,
  };
  const elsewhere = setting === undefined ? null : `set ${setting} to another path`;
  const ways = [advice, elsewhere].filter((way) => way !== null).join(', or ');
  const todo = ways === '' ? '' : ` ${ways.slice(0, 1).toUpperCase()}${ways.slice(1)}.`;
  return new OperatorError(`${what} ${path} cannot be used: ${reason}.${todo}`, { cause: error });
}

interface Fault {
  reason: string;
  advice: string | null;
}

function faultOf(code: string, path: string): Fault | null {
  switch (code) {
    case 'EACCES':
    case 'EPERM': {
      const nearest = nearestOf(path);
      const me = ownName();
      return {
        reason: `${me} may not write in ${nearest.path}, which belongs to uid ${nearest.entry.uid} with mode ${modeOf(nearest.entry)} (${code})`,
        advice: 'run Holdfast as a user who may, give this user access (chown or chmod)',
      };
    }
    case 'EROFS':
      return { reason: `${nearestOf(path).path} is on a read-only file system (${code})`, advice: null };
    case 'ENOSPC':
      return {
        reason: `no space is left on the disk of ${nearestOf(path).path} (${code})`,
        advice: 'free some space there',
      };
    case 'EDQUOT':
      return {
        reason: `${ownName()} has used up the disk quota at ${nearestOf(path).path} (${code})`,
        advice: 'free some space there',
      };
    case 'ENOTDIR':
    case 'EEXIST':
      return { reason: `${nearestOf(path).path} is a file, not a directory`, advice: null };
    case 'ENAMETOOLONG':
      return { reason: `the name is too long (${code})`, advice: null };
    case 'ELOOP':
      return { reason: `symbolic links form a loop (${code})`, advice: null };
    default:
      return null;
  }
}

/** The path itself or its nearest visible ancestor: the obstacle is there. */
function nearestOf(path: string): { path: string; entry: Stats } {
  try {
    const entry = statSync(path, { throwIfNoEntry: false });
    if (entry) return { path, entry };
  } catch {
    // Inside an inaccessible directory, or below a file: the parent tells more.
  }
  return nearestOf(dirname(path));
}

function modeOf({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

function ownName(): string {
  const uid = process.geteuid?.() ?? 0;
  try {
    return `${userInfo().username} (uid ${uid})`;
  } catch {
    // Common in containers that run under an arbitrary uid.
    return `uid ${uid}`;
  }
}
