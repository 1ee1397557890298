/** For the tests of this folder: scratch data directories, and processes that use a server and can be killed. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { type Connection, type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';
import { findPostmaster, stopPostmaster } from './postmaster.ts';

/**
 * An empty data directory, or one to be made below a directory that only we may pass; when the test ends its server is
 * stopped, if a failed test left one, and it is removed.
 */
export async function scratchDataDir(t: TestContext, below = ''): Promise<string> {
  const scratch = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-pg-')));
  const dataDir = join(scratch, below);
  t.after(async () => {
    const pid = await serverPid(dataDir);
    if (pid !== null) await stopPostmaster(pid, clusterIn(dataDir));
    await rm(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  return dataDir;
}

/**
 * A data directory with a cluster and no server. Copies of one cluster, since making one takes a second. Call it at
 * the top of the file, and the returned function in each test. `-p` keeps the server's account as the owner.
 */
export function dataDirFactory(): (t: TestContext) => Promise<string> {
  let made: Promise<string> | null = null;
  async function makeTemplate(): Promise<string> {
    const template = await mkdtemp(join(tmpdir(), 'holdfast-pg-template-'));
    await start(template).then((user) => user.release());
    return template;
  }
  after(async () => {
    if (made) await rm(await made, { recursive: true, force: true });
  });
  return async (t) => {
    made ??= makeTemplate();
    const dataDir = await scratchDataDir(t);
    await promisify(execFile)('cp', ['-Rp', join(await made, 'postgres'), dataDir]);
    return dataDir;
  };
}

export function clusterIn(dataDir: string): string {
  return join(dataDir, 'postgres', 'cluster');
}

export async function serverPid(dataDir: string): Promise<number | null> {
  return (await findPostmaster(clusterIn(dataDir)).catch(() => null))?.pid ?? null;
}

export function start(dataDir: string, { exclusive = false } = {}): Promise<EmbeddedPostgres> {
  const log = { info() {}, error() {} };
  return startEmbeddedPostgres({ dataDir, log, exclusive });
}

export async function query(connection: Connection, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(connection);
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query(sql);
    return rows;
  } finally {
    await client.end();
  }
}

/** Polls until the check gives something, and returns that; a check that throws is tried again. */
export async function eventually<T>(
  check: () => Promise<T | null | false>,
  // A server that was killed first replays its log, which a busy disk makes long.
  deadlineMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    let problem: unknown = 'not yet true';
    try {
      const result = await check();
      if (result !== null && result !== false) return result;
    } catch (error) {
      problem = error;
    }
    if (performance.now() > deadline) throw new Error('gave up waiting', { cause: problem });
    await sleep(10);
  }
}

export interface OtherProcess {
  child: ChildProcess;
  /** Resolves once the process uses the server, with where it connects; rejects when it ends before. */
  ready: Promise<Connection>;
  kill(): Promise<void>;
}

/** Starts another process that uses the server of the data directory until it is killed; `under` is a command that runs it. */
export function startElsewhere(
  t: TestContext,
  dataDir: string,
  { exclusive = false, under = [] as string[], quiet = false } = {},
): OtherProcess {
  const code = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(import.meta.resolve('./embedded-postgres.ts'))});
    const log = { info() {}, error() {} };
    const postgres = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, log, exclusive: ${exclusive} });
    console.log(JSON.stringify(postgres.connection()));`;
  const [file, ...args] = [...under, process.execPath, '--input-type=module', '-e', code];
  const child = spawn(file ?? process.execPath, args, {
    stdio: ['ignore', 'pipe', quiet ? 'ignore' : 'inherit'],
  });
  const ended = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  t.after(kill);
  const firstLine = once(createInterface(child.stdout), 'line').then(
    ([line]): Connection => JSON.parse(line),
  );
  const tooEarly = ended.then(([code, signal]) => {
    throw new Error(`the other process ended with ${code ?? signal}`);
  });
  const ready = Promise.race([firstLine, tooEarly]);
  // A test may kill the process on purpose before it is ready.
  ready.catch(() => {});
  tooEarly.catch(() => {});
  return { child, ready, kill };
}
