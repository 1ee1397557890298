/**
 * One clock for the tests, the service and PostgreSQL, which a run can set (`npm test -- FILE --at TIME`): every
 * process shifts its Date by the same number of milliseconds (runner/preload.ts), and each test database its now().
 */
import type pg from 'pg';
import { preloading } from './preloading.ts';

const offsetMs = process.env.HOLDFAST_TEST_CLOCK;

/** Whether this run has set its clock. */
export const clockIsSet: boolean = offsetMs !== undefined;

/** Environment for a process whose clock starts at this time. */
export function clockStartingAt(time: Date): Record<string, string> {
  return preloading({ HOLDFAST_TEST_CLOCK: String(time.getTime() - Date.now()) });
}

/** Call it before the schema exists, so that column defaults use this clock too. */
export async function setDatabaseClock(client: pg.Client, database: string): Promise<void> {
  if (offsetMs === undefined) return;
  for (const name of ['now', 'clock_timestamp']) {
    await client.query(
      `create function public.${name}() returns timestamptz language sql ${name === 'now' ? 'stable' : 'volatile'}
       as $$ select pg_catalog.${name}() + interval '${offsetMs} milliseconds' $$`,
    );
  }
  // With public first, the built-in functions are found only if public has none of that name.
  await client.query(`alter database ${database} set search_path = public, pg_catalog`);
}
