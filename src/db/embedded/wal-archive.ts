/** The archive of PostgreSQL's write-ahead log: where it is, who may write there, and the commands that fill and read it. */
import { chown, mkdir, open, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../../runtime/errors.ts';
import { explainFileFault } from '../../runtime/file-fault.ts';
import { type Account, describeAccount } from './account.ts';
import { closedDirectories, mayPass } from './reach.ts';

/** Below the directory of HOLDFAST_WAL_ARCHIVE_DIR. */
export const walDirOf = (dir: string): string => join(dir, 'wal');

/** A segment is archived when it is full, and when it is this old and anything was written to it. */
const longestUnarchivedSeconds = 60;

/** Arguments of the server. Each segment is compressed and on disk under a temporary name before it gets its own. */
export function walSettings(dir: string | null): Record<string, string> {
  if (dir === null) return { wal_level: 'minimal' };
  return {
    wal_level: 'replica',
    archive_mode: 'on',
    archive_timeout: `${longestUnarchivedSeconds}s`,
    archive_command: archiveCommand(walDirOf(dir)),
  };
}

/** PostgreSQL may ask for a segment again that it archived before a crash. Other bytes under one name are never replaced. */
function archiveCommand(dir: string): string {
  const place = quoted(dir);
  return `f=${place}/%f.gz; if test -e "$f"; then gzip -dc "$f" | cmp -s - "%p"; else gzip -1c "%p" > "$f.part" && sync "$f.part" && mv "$f.part" "$f" && sync ${place}; fi`;
}

export function restoreCommand(dir: string): string {
  const place = quoted(walDirOf(dir));
  return `test -e ${place}/%f.gz && gzip -dc ${place}/%f.gz > "%p"`;
}

/** For the shell, within a setting where PostgreSQL replaces what follows a percent sign. */
function quoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`).replaceAll('%', '%%')}'`;
}

export interface ArchiveUse {
  dir: string;
  clusterDir: string;
  /** The account of the server; null means our own. */
  account: Account | null;
}

/** Before the server starts: makes the directory, and makes sure that it belongs to this database and can be written. */
export async function prepareWalArchive({ dir, clusterDir, account }: ArchiveUse): Promise<void> {
  const wal = walDirOf(dir);
  try {
    await mkdir(wal, { recursive: true, mode: 0o700 });
    if (account) await letServerWrite(dir, account);
    await requireOwn(dir, await systemIdentifier(clusterDir));
  } catch (error) {
    throw explainFileFault(error, {
      what: 'The archive of the database log',
      path: dir,
      setting: 'HOLDFAST_WAL_ARCHIVE_DIR',
    });
  }
}

async function letServerWrite(dir: string, account: Account): Promise<void> {
  const closed = await closedDirectories(join(dir, '..'), account);
  if (closed.length > 0) {
    throw new OperatorError(
      `PostgreSQL runs as ${describeAccount(account)}, which cannot enter ${closed.join(', ')} to archive its log. Set HOLDFAST_WAL_ARCHIVE_DIR to a directory that it can reach, or run Holdfast as an ordinary user.`,
    );
  }
  const { uid, gid } = account;
  if (!mayPass(await stat(dir), account)) await chown(dir, uid, gid);
  await chown(walDirOf(dir), uid, gid);
}

/** Two databases in one archive would keep each other from archiving. */
async function requireOwn(dir: string, identifier: string): Promise<void> {
  const file = join(dir, 'database');
  const found = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  if (found.trim() === identifier) return;
  if (found.trim() !== '') {
    throw new OperatorError(
      `HOLDFAST_WAL_ARCHIVE_DIR ${dir} has the log of another database. If this data directory is new, restore into it with "holdfast restore --to-time"; otherwise set HOLDFAST_WAL_ARCHIVE_DIR to another directory.`,
    );
  }
  await writeFile(file, `${identifier}\n`, { mode: 0o600, flush: true });
}

/** The number that initdb gave the cluster and all copies of it: the first eight bytes of pg_control. */
export async function systemIdentifier(clusterDir: string): Promise<string> {
  const control = await open(join(clusterDir, 'global', 'pg_control'));
  try {
    const { buffer } = await control.read(Buffer.alloc(8), 0, 8, 0);
    return buffer.readBigUInt64LE().toString();
  } finally {
    await control.close();
  }
}
