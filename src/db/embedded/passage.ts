/**
 * A way for an account to data and programs below directories that are closed to it: a view of the file system of its own
 * (a mount namespace), in which both lie at places that everybody can reach. Nothing outside changes, and the account gets
 * no right that it does not have: what is closed to it, such as the master key, stays closed.
 */
import { stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Account } from './account.ts';
import { mayPass } from './reach.ts';

export interface PassageNeeds {
  account: Account;
  /** Holds the programs and their libraries. */
  programs: string;
  /** Whatever the programs will work on lies in here. */
  directory: string;
}

/** A command line that runs another one there, as the account, which then sees this directory of data and no other. */
export type Passage = (program: string, args: string[], data?: string) => { file: string; args: string[] };

/** In the view these lie open; outside they are not touched. */
const places = ['/mnt', '/media', '/srv', '/opt'];

/** Its arguments: the place, programs and data, which may be none; then the command line to become. */
const script = `set -e
place=$1 programs=$2 data=$3
shift 3
mount -t tmpfs -o mode=755,size=64k,nosuid,nodev holdfast "$place"
mkdir "$place/data" "$place/programs"
mount --bind "$programs" "$place/programs"
if [ -n "$data" ]; then mount --bind "$data" "$place/data"; fi
exec "$@"`;

/** Null where there is no place for it. */
export async function planPassage({ account, programs, directory }: PassageNeeds): Promise<Passage | null> {
  const place = await findPlace(account, [programs, directory]);
  if (place === null) return null;
  const become = [
    ...['setpriv', '--reuid', String(account.uid), '--regid', String(account.gid), '--clear-groups'],
    ...['--no-new-privs', '--'],
  ];
  return (program, args, data) => {
    /** Paths may stand behind an option, as in --pwfile=PATH. */
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

/** One that the account reaches, and that none of the paths lies in, as it would be covered. */
async function findPlace(account: Account, paths: string[]): Promise<string | null> {
  for (const place of places) {
    const entry = await stat(place).catch(() => null);
    const covers = paths.some((path) => !relative(place, path).startsWith('..'));
    if (entry?.isDirectory() && mayPass(entry, account) && !covers) return place;
  }
  return null;
}
