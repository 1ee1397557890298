/** Accounts from /etc/passwd: which one runs PostgreSQL when Holdfast runs as root, and the name of a uid. */
import { readFile } from 'node:fs/promises';

export interface Account {
  name: string;
  uid: number;
  gid: number;
}

/** The text of /etc/passwd; empty if the file does not exist. */
export function readPasswd(): Promise<string> {
  return readFile('/etc/passwd', 'utf8').catch(() => '');
}

/**
 * The account for the server when we are root, since PostgreSQL refuses to run as root; `_postgres` is its name on
 * macOS.
 */
export function chooseServerAccount(passwd: string): Account | null {
  const accounts = parsePasswd(passwd);
  for (const name of ['postgres', '_postgres', 'nobody']) {
    const found = accounts.find((account) => account.name === name && account.uid !== 0);
    if (found) return found;
  }
  return null;
}

/** The account that owns a file; one without an entry is named by its number, as sudo does. */
export function accountOf(passwd: string, { uid, gid }: { uid: number; gid: number }): Account {
  const name = parsePasswd(passwd).find((account) => account.uid === uid)?.name ?? `#${uid}`;
  return { name, uid, gid };
}

/** For messages: "alice (uid 1000)". */
export function describeAccount({ name, uid }: { name: string; uid: number }): string {
  return `${name} (uid ${uid})`;
}

function parsePasswd(passwd: string): Account[] {
  return passwd.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    // Neither chown nor spawn accepts negative ids, such as that of nobody on macOS.
    if (!name || !/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? '')) return [];
    return [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}
