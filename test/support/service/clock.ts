/**
 * One clock for the tests, the service and PostgreSQL, which a run can set (`npm test -- FILE --at TIME`): every
 * process shifts its Date by the same number of milliseconds (runner/preload.ts), and each test database its now().
 */
import type pg from 'pg';
import { preloading } from './preloading.ts';

/** Whether this run has set its clock. */
export const clockIsSet: boolean = process.env.HOLDFAST_TEST_CLOCK !== undefined;

/** Environment for a process whose clock starts at this time. */
export function clockStartingAt(time: Date): Record<string, string> {
  return preloading({ HOLDFAST_TEST_CLOCK: String(time.getTime() - Date.now()) });
}

/** Call it before the schema exists, so that column defaults use this clock too. Copies of the database have it as well. */
export async function makeDatabaseClock(client: pg.Client): Promise<void> {
  for (const [name, volatility] of [
    ['now', 'stable'],
    ['clock_timestamp', 'volatile'],
  ]) {
    await client.query(
      `create function public.${name}() returns timestamptz language sql ${volatility}
       as $$ select pg_catalog.${name}() + current_setting('holdfast_test.clock')::interval $$`,
    );
  }
}

/** For connections that are opened from now on. */
export async function setDatabaseClock(client: pg.Client, database: string): Promise<void> {
  const offset = `${process.env.HOLDFAST_TEST_CLOCK} milliseconds`;
  await client.query(`alter database ${database} set holdfast_test.clock = '${offset}'`);
  // With public first, the built-in functions are found only if public has none of that name.
  await client.query(`alter database ${database} set search_path = public, pg_catalog`);
}
