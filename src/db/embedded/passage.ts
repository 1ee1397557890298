/**
 * Gives an account access to data and programs below directories that are closed to it: through a mount namespace of
 * its own, in which both are mounted at places that everybody can reach. Nothing outside changes, and the account gains
 * no rights: files that are closed to it, such as the master key, stay closed.
 */
import { stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Account } from './account.ts';
import { mayPass } from './reach.ts';

export interface PassageNeeds {
  account: Account;
  /** The directory of the programs and their libraries. */
  programs: string;
  /** Contains all data that the programs will work on. */
  directory: string;
  /** Directories that must stay visible. */
  alsoUsed?: string[];
}

/**
 * Builds a command line that runs a program in the namespace as the account, which sees this data directory and no
 * other.
 */
export type Passage = (program: string, args: string[], data?: string) => { file: string; args: string[] };

/** Mount points inside the namespace; outside they are not touched. */
const places = ['/mnt', '/media', '/srv', '/opt'];

/** Arguments: the place, the programs, the data (may be empty), then the command line to exec. */
const script = `set -e
place=$1 programs=$2 data=$3
shift 3
mount -t tmpfs -o mode=755,size=64k,nosuid,nodev holdfast "$place"
mkdir "$place/data" "$place/programs"
mount --bind "$programs" "$place/programs"
if [ -n "$data" ]; then mount --bind "$data" "$place/data"; fi
exec "$@"`;

/** Null when no place is suitable. */
export async function planPassage({
  account,
  programs,
  directory,
  alsoUsed = [],
}: PassageNeeds): Promise<Passage | null> {
  const place = await findPlace(account, [programs, directory, ...alsoUsed]);
  if (place === null) return null;
  const become = [
    ...['setpriv', '--reuid', String(account.uid), '--regid', String(account.gid), '--clear-groups'],
    ...['--no-new-privs', '--'],
  ];
  return (program, args, data) => {
    /** A path may follow an option, as in --pwfile=PATH. */
    const within = (text: string) => {
      if (text.includes(`${programs}/`)) return text.replace(programs, () => join(place, 'programs'));
      const named = data !== undefined && (text.endsWith(data) || text.includes(`${data}/`));
      return named ? text.replace(data, () => join(place, 'data')) : text;
    };
    return {
      file: 'unshare',
      args: [
        ...['--mount', '--propagation', 'slave', '--', 'sh', '-c', script],
        ...['sh', place, programs, data ?? ''],
        ...become,
        ...[program, ...args].map(within),
      ],
    };
  };
}

/** Finds a place that the account can reach and that contains none of the paths, because the mount would hide them. */
async function findPlace(account: Account, paths: string[]): Promise<string | null> {
  for (const place of places) {
    const entry = await stat(place).catch(() => null);
    const covers = paths.some((path) => !relative(place, path).startsWith('..'));
    if (entry?.isDirectory() && mayPass(entry, account) && !covers) return place;
  }
  return null;
}
