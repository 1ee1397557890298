/** PostgreSQL servers of a test's own, also a primary with its standby. They end with the test. */
import { execFile, spawn } from 'node:child_process';
import { chmod, chown, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { chooseServerAccount, readPasswd } from '../../../src/db/embedded/account.ts';
import { findBinaries } from '../../../src/db/embedded/binaries.ts';
import { createLauncher, type Launcher } from '../../../src/db/embedded/launch.ts';
import { withClient } from './database.ts';
import { waitUntil } from './process.ts';

export interface OwnServer {
  host: string;
  url: string;
  /** As a crash would. */
  kill(): Promise<void>;
}

/** `programs`: where initdb and postgres are; default: those of the embedded server. */
export async function startServer(
  t: TestContext,
  { programs }: { programs?: string } = {},
): Promise<OwnServer> {
  const { prepare, data, run } = await makeCluster(t, programs);
  return start(t, { prepare, data, run, settings: [] });
}

export interface Replicated {
  primary: OwnServer;
  standby: OwnServer;
}

/** The standby begins as a copy of the primary, and follows it. */
export async function startReplicated(t: TestContext): Promise<Replicated> {
  const cluster = await makeCluster(t);
  const copy = `${cluster.data}-standby`;
  await cp(cluster.data, copy, { recursive: true, preserveTimestamps: true });
  await writeFile(join(copy, 'standby.signal'), '');
  await cluster.own(copy);
  const primary = await start(t, { ...cluster, settings: [] });
  const [host, port] = primary.host.split(':');
  const follow = `primary_conninfo=host=${host} port=${port} user=holdfast`;
  const standby = await start(t, { ...cluster, data: copy, settings: [follow] });
  return { primary, standby };
}

interface Cluster {
  prepare: Launcher['prepare'];
  data: string;
  run: string;
}

async function makeCluster(
  t: TestContext,
  programs?: string,
): Promise<Cluster & { own(path: string): Promise<void> }> {
  const binaries = await findBinaries();
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-postgres-'));
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  const account = process.geteuid?.() === 0 ? chooseServerAccount(await readPasswd()) : null;
  if (account) await chown(directory, account.uid, account.gid);
  await chmod(directory, 0o700);
  const { prepare } = await createLauncher({ account, binaries, directory });
  const run = programs ?? dirname(binaries.postgres);
  const data = join(directory, 'data');
  const init = ['-D', data, '-U', 'holdfast', '--auth=trust', '--no-sync', '-E', 'UTF8'];
  const { file, args, options } = prepare(join(run, 'initdb'), init, directory);
  await promisify(execFile)(file, args, options);
  const own = async (path: string) => {
    if (account) await promisify(execFile)('chown', ['-R', `${account.uid}:${account.gid}`, path]);
    await chmod(path, 0o700);
  };
  return { prepare, data, run, own };
}

async function start(
  t: TestContext,
  { prepare, data, run, settings }: Cluster & { settings: string[] },
): Promise<OwnServer> {
  const port = await freePort();
  const all = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', ...settings];
  const { file, args, options } = prepare(
    join(run, 'postgres'),
    ['-D', data, '-p', String(port), ...all.flatMap((setting) => ['-c', setting])],
    data,
  );
  const server = spawn(file, args, { ...options, stdio: 'ignore' });
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const end = (signal: NodeJS.Signals) => {
    server.kill(signal);
    return exited;
  };
  t.after(() => end('SIGQUIT'));
  const host = `127.0.0.1:${port}`;
  const url = `postgres://holdfast@${host}/postgres`;
  await waitUntil(() => withClient({ connectionString: url }, async () => true).catch(() => false));
  return { host, url, kill: () => end('SIGQUIT') };
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });
}
