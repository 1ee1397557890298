/** Makes a base backup of the running embedded cluster: its files, which the archived log then makes consistent. */
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import pg from 'pg';
import type { MasterKeySource } from '../../config/data-settings.ts';
import { locks } from '../../db/advisory-lock.ts';
import { type Paths, pathsIn } from '../../db/embedded/paths.ts';
import { readMasterKeys } from '../../keys/master-keys.ts';
import { OperatorError } from '../../runtime/errors.ts';
import { version } from '../../runtime/version.ts';
import { type ArchiveWriter, createArchive, type Written, writeWhole } from '../archive-writer.ts';
import { formatMember, smallBytes } from '../format.ts';
import { keysInUse, readWithOlder } from '../keys-in-use.ts';
import { writeManifest } from '../manifest-seal.ts';
import { type Base, type BaseManifest, baseFormat, baseName, basesDirOf } from './base-format.ts';
import { readBase } from './base-reader.ts';

export interface BaseOptions {
  dataDir: string;
  /** HOLDFAST_WAL_ARCHIVE_DIR. */
  dir: string;
  connection(): pg.ClientConfig;
  masterKey: MasterKeySource;
  onProgress(stage: 'database' | 'archive', progress: { done: number; total: number }): void;
  signal?: AbortSignal | undefined;
}

export type MadeBase = Base & Pick<BaseManifest, 'files'>;

/** Null while another process makes one. */
export async function makeBase(options: BaseOptions): Promise<MadeBase | null> {
  const client = new pg.Client({
    ...options.connection(),
    application_name: 'holdfast base backup',
    // Waiting for the archive may take as long as the log needs to get there.
    statement_timeout: 0,
    query_timeout: 0,
    keepAlive: true,
  });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
      locks.baseBackup,
    ]);
    return rows[0]?.taken ? await make(client, options) : null;
  } finally {
    // Ends a backup that was begun, if it was not stopped.
    await client.end().catch(() => {});
  }
}

async function make(client: pg.Client, options: BaseOptions): Promise<MadeBase> {
  const { dir, signal, onProgress } = options;
  await requireArchiving(client);
  await mkdir(basesDirOf(dir), { recursive: true, mode: 0o700 });
  const startedAt = new Date();
  const file = join(basesDirOf(dir), `${baseName(startedAt)}.tar`);
  const archive = await createArchive(file, startedAt);
  try {
    await archive.addFile(formatMember, JSON.stringify({ format: baseFormat }));
    const keysBefore = await readMasterKeys(options.masterKey);
    await client.query('select pg_backup_start($1, fast => true)', ['holdfast']);
    const copied = await copyCluster(archive, pathsIn(join(options.dataDir, 'postgres')), options);
    const checkValues = await client.query<{ version: number; check_value: Buffer }>(
      'select version, check_value from master_keys order by version',
    );
    const stop = await stopBackup(client);
    const keys = keysInUse(
      checkValues.rows,
      await readWithOlder(options.masterKey, keysBefore),
      options.masterKey,
    );
    const label = await archive.addPieces('cluster/backup_label', one(Buffer.from(stop.label)));
    const manifest: BaseManifest = {
      format: baseFormat,
      madeBy: `holdfast ${version}`,
      startedAt: startedAt.toISOString(),
      stoppedAt: stop.at.toISOString(),
      ...placeOf(stop.label),
      stopLsn: stop.lsn,
      masterKeys: checkValues.rows.map(({ version }) => version),
      bytes: copied.files.reduce((sum, { bytes }) => sum + bytes, 0),
      directories: copied.directories,
      files: [...copied.files, { path: 'backup_label', ...label }],
    };
    await writeManifest(archive, JSON.stringify(manifest), keys);
    await readBase(archive.draft, { signal, onProgress: (progress) => onProgress('archive', progress) });
    await archive.publish();
    const { files, directories: _, ...facts } = manifest;
    await writeWhole(file.replace(/tar$/, 'json'), `${JSON.stringify(facts, null, 1)}\n`);
    return { ...facts, files, file };
  } finally {
    await archive.discard();
  }
}

async function requireArchiving(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ mode: string }>("select current_setting('archive_mode') as mode");
  if (rows[0]?.mode === 'on') return;
  throw new OperatorError(
    'The embedded database does not archive its log yet: it was started without HOLDFAST_WAL_ARCHIVE_DIR. Restart the service, and make the base backup again.',
  );
}

interface Stopped {
  lsn: string;
  label: string;
  at: Date;
}

/** Returns once the log up to here is archived. */
async function stopBackup(client: pg.Client): Promise<Stopped> {
  const { rows } = await client.query<Stopped>(
    'select lsn::text, labelfile as label, clock_timestamp() as at from pg_backup_stop(wait_for_archive => true)',
  );
  const [stopped] = rows;
  if (!stopped) throw new Error('PostgreSQL said nothing about the end of the backup');
  return stopped;
}

function placeOf(label: string): { timeline: number; firstSegment: string } {
  const firstSegment = /^START WAL LOCATION: .*\(file ([0-9A-F]{24})\)$/m.exec(label)?.[1];
  const timeline = /^START TIMELINE: (\d+)$/m.exec(label)?.[1];
  if (!firstSegment || !timeline) throw new Error(`cannot read the backup label:\n${label}`);
  return { firstSegment, timeline: Number(timeline) };
}

/** The contents of these make no sense in a copy, or come from the archived log; the directories must exist. */
const emptied = new Set([
  ...['pg_wal', 'pg_dynshmem', 'pg_notify', 'pg_replslot', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp'],
  ...['pg_subtrans', 'pgsql_tmp'],
]);
const leftOut =
  /^(postmaster\.(pid|opts)|backup_label(\.old)?|tablespace_map(\.old)?|pg_internal\.init.*|pgsql_tmp.*|.*\.signal|\.s\.PGSQL\..*|backup_manifest|current_logfiles)$/;

/** PostgreSQL makes no others. */
const usualName = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

interface Copied {
  files: ({ path: string } & Written)[];
  directories: string[];
}

async function copyCluster(archive: ArchiveWriter, paths: Paths, options: BaseOptions): Promise<Copied> {
  const { signal, onProgress } = options;
  const { clusterDir } = paths;
  const found = await listCluster(clusterDir);
  const copied: Copied = { files: [], directories: found.directories };
  for (const [done, path] of found.files.entries()) {
    signal?.throwIfAborted();
    const written = await archive
      .addPieces(`cluster/${path}`, opened(join(clusterDir, path)), { compress: true })
      .catch((error: NodeJS.ErrnoException) => {
        // A table was dropped, or rewritten: the log says so, too.
        if (error.code === 'ENOENT') return null;
        throw error;
      });
    if (written) copied.files.push({ path, ...written });
    onProgress('database', { done: done + 1, total: found.files.length });
  }
  const password = await archive.addPieces('cluster/password', opened(paths.passwordFile));
  copied.files.push({ path: 'password', ...password });
  return copied;
}

/** pg_control comes last, so that it is never older than what it describes. */
async function listCluster(clusterDir: string): Promise<{ files: string[]; directories: string[] }> {
  const files: string[] = [];
  const directories: string[] = [];
  const walk = async (directory: string): Promise<void> => {
    // A database may be dropped meanwhile.
    const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(directory, entry.name);
      if (leftOut.test(entry.name) || !usualName.test(entry.name)) continue;
      if (entry.isFile()) files.push(relative(clusterDir, path));
      if (!entry.isDirectory()) continue;
      directories.push(relative(clusterDir, path));
      if (!emptied.has(entry.name)) await walk(path);
    }
  };
  await walk(clusterDir);
  const control = 'global/pg_control';
  return {
    files: [...files.filter((path) => path !== control).sort(), control],
    directories: [...directories, 'pg_wal/archive_status', 'pg_wal/summaries'].sort(),
  };
}

/**
 * Fails before it yields anything when the file is gone. Small files, most of them, are read at once: that takes
 * microseconds, and a stream for each of some two thousand takes minutes on a busy machine.
 */
async function* opened(path: string): AsyncGenerator<Buffer> {
  if (statSync(path).size <= smallBytes) yield readFileSync(path);
  else yield* createReadStream(path, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>;
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** Removes a base; what is left after a crash is not listed, and goes with the next call. */
export async function removeBase(file: string): Promise<void> {
  await rm(file.replace(/tar$/, 'json'), { force: true });
  await rm(file, { force: true });
}
