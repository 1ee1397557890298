/**
 * Applies one migration beside a running service. A lock is asked for briefly and again later, because every statement that
 * comes after the request waits behind it.
 */
import { setTimeout as rest } from 'node:timers/promises';
import pg from 'pg';
import { OperatorError } from '../../runtime/errors.ts';
import type { LoopLog } from '../../runtime/loop.ts';
import { recordApplied } from './applied.ts';
import { type LockWatch, watchLocks } from './lock-watch.ts';
import type { Migration } from './migration-files.ts';

export interface ApplyOptions {
  connection: pg.ClientConfig;
  log: Pick<LoopLog, 'info'>;
  /** How long others may have to wait behind the request for a lock. */
  lockTimeoutMs?: number;
  /** How long to try: longer than the service's statements and its idle transactions may last. */
  patienceMs?: number;
}

const restMs = 1_000;
const progressMs = 30_000;
const lockUnavailable = '55P03';
const deadlock = '40P01';

export async function applyMigration(
  client: pg.Client,
  migration: Migration,
  options: ApplyOptions,
): Promise<void> {
  const { name, sql, statements } = migration;
  if (statements) {
    await inTurns(client, { ...options, what: name, lockTimeoutMs: 0 }, async () => {
      await dropInvalidIndexes(client, migration);
      for (const statement of statements) await client.query(statement);
      await recordApplied(client, migration);
    });
  } else {
    await inTransaction(client, { ...options, what: name }, async () => {
      await client.query(sql);
      await recordApplied(client, migration);
    });
  }
}

export interface Turns extends ApplyOptions {
  /** For messages: the name of the migration. */
  what: string;
}

export function inTransaction(client: pg.Client, turns: Turns, work: () => Promise<void>): Promise<void> {
  return inTurns(client, turns, async () => {
    await client.query('begin');
    try {
      await work();
      await client.query('commit');
    } catch (error) {
      // When the connection is lost, there is nothing left to roll back.
      await client.query('rollback').catch(() => {});
      throw error;
    }
  });
}

/** Repeats the work, which must leave nothing behind or be repeatable, until it gets its locks. */
async function inTurns(client: pg.Client, turns: Turns, work: () => Promise<void>): Promise<void> {
  const { what, connection, log, lockTimeoutMs = 2_000, patienceMs = 120_000 } = turns;
  const begun = performance.now();
  await client.query(`set lock_timeout = ${lockTimeoutMs}`);
  const watch = await watchLocks(connection, client);
  const timer = setInterval(() => tell(watch), progressMs);
  const tell = ({ blockers, progress }: LockWatch) =>
    log.info({ migration: what, progress: progress(), waitsFor: blockers() }, 'a migration is running');
  try {
    for (;;) {
      const error = await work().then(
        () => null,
        (error: unknown) => error,
      );
      if (error === null) return;
      if (!isPassing(error)) throw error;
      const seconds = Math.round((performance.now() - begun) / 1_000);
      if (seconds * 1_000 >= patienceMs) throw explainLocked({ what, seconds, watch, cause: error });
      log.info(
        { migration: what, waitsFor: watch.blockers() },
        'a migration waits for a lock that others hold, and tries again',
      );
      await rest(restMs);
    }
  } finally {
    clearInterval(timer);
    await watch.close();
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof pg.DatabaseError && [lockUnavailable, deadlock].includes(error.code ?? '');
}

interface Locked {
  what: string;
  seconds: number;
  watch: LockWatch;
  cause: unknown;
}

function explainLocked({ what, seconds, watch, cause }: Locked): OperatorError {
  const holders = watch.blockers() || 'another session, which was not seen';
  return new OperatorError(
    `The migration ${what} needs a lock that was not free for ${seconds} s. It is held by ${holders}. Wait until that transaction ends, or end it with "select pg_terminate_backend(PID)", and start again. The migration changed nothing.`,
    { cause },
  );
}

/** What a concurrent build leaves when it is interrupted: an index that is maintained with every write and never read. */
async function dropInvalidIndexes(client: pg.Client, { sql }: Migration): Promise<void> {
  const { rows } = await client.query<{ name: string; quoted: string }>(
    `select c.relname as name, i.indexrelid::regclass::text as quoted from pg_index i join pg_class c on c.oid = i.indexrelid
     where not i.indisvalid and c.relkind = 'i' and c.relnamespace = 'public'::regnamespace`,
  );
  const words = new Set(sql.match(/\w+/g));
  for (const { name, quoted } of rows) {
    if (words.has(name)) await client.query(`drop index concurrently if exists ${quoted}`);
  }
}
