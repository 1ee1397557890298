/**
 * One clock for the tests, the service and PostgreSQL, which a run can set (`npm test -- FILE --at TIME`): every process
 * moves its Date by the same number of milliseconds (runner/preload.ts), and each test database its now().
 */
import type pg from 'pg';
import { preloading } from './preloading.ts';

const offsetMs = process.env.HOLDFAST_TEST_CLOCK;

/** Whether this run has a clock of its own. */
export const clockIsSet: boolean = offsetMs !== undefined;

/** For the environment of a process that begins at this time. */
export function clockStartingAt(time: Date): Record<string, string> {
  return preloading({ HOLDFAST_TEST_CLOCK: String(time.getTime() - Date.now()) });
}

/** Before the schema is there, so that the defaults of its columns go by this clock too. */
export async function setDatabaseClock(client: pg.Client, database: string): Promise<void> {
  if (offsetMs === undefined) return;
  for (const name of ['now', 'clock_timestamp']) {
    await client.query(
      `create function public.${name}() returns timestamptz language sql ${name === 'now' ? 'stable' : 'volatile'}
       as $$ select pg_catalog.${name}() + interval '${offsetMs} milliseconds' $$`,
    );
  }
  // Named after public, the built-in functions are found only where public has none of the name.
  await client.query(`alter database ${database} set search_path = public, pg_catalog`);
}
