/** The advisory locks by which processes share one server: every user holds `users` shared, the service also `service`. */
import type pg from 'pg';
import { OperatorError } from '../../runtime/errors.ts';
import { pause } from '../../runtime/loop.ts';
import { stateOf } from './connect.ts';

/** The database that holds Holdfast's tables. */
export const databaseName = 'holdfast';

/**
 * First key: an arbitrary number of ours. Second key: what is locked. A lock ends with its connection, even after kill
 * -9.
 */
const lockClass = 0x686f6c64;
const users = 1;
const service = 2;

/** After kill -9 of a service, its backend needs a moment to notice. */
const longestClaimMs = 3_000;

/**
 * Becomes a user of the server. Blocks while the last user holds the lock to stop the server; the connection then
 * breaks.
 */
export async function joinUsers(client: pg.Client): Promise<void> {
  await client.query('select pg_advisory_lock_shared($1, $2)', [lockClass, users]);
}

/** Leaves; true when nobody else uses the server, and then nobody can join it while the connection lives. */
export async function leaveUsers(client: pg.Client): Promise<boolean> {
  await client.query('select pg_advisory_unlock_all()');
  return tryLock(client, users);
}

export async function createDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [databaseName]);
  if (rowCount) return;
  await client.query(`create database ${databaseName}`).catch((error) => {
    // Another process created it meanwhile; PostgreSQL reports that in either of two ways.
    if (stateOf(error) !== '42P04' && stateOf(error) !== '23505') throw error;
  });
}

/** Makes this process the only service of the data directory, or throws an error that names the other one. */
export async function becomeOnlyService(
  client: pg.Client,
  dataDir: string,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + longestClaimMs;
  while (!(await tryLock(client, service))) {
    if (performance.now() > deadline) {
      throw new OperatorError(
        `Another Holdfast service (${await holder(client)}) already uses the data directory ${dataDir}. ` +
          'Stop it first, or set HOLDFAST_DATA_DIR to another directory for this one.',
      );
    }
    await pause(50, signal);
    signal.throwIfAborted();
  }
}

/** The name of a process's connection, from which `holder` reads the pid. */
export function sessionName(exclusive: boolean): string {
  return `holdfast ${exclusive ? 'service' : 'command'} pid ${process.pid}`;
}

async function holder(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    `select a.application_name as name
       from pg_locks l join pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and l.classid = $1 and l.objid = $2 and l.objsubid = 2 and l.granted`,
    [lockClass, service],
  );
  return /pid \d+/.exec(rows[0]?.name ?? '')?.[0] ?? 'pid unknown';
}

async function tryLock(client: pg.Client, what: number): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1, $2) as locked', [
    lockClass,
    what,
  ]);
  return rows[0]?.locked === true;
}
