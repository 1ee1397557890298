/** Up to when each check of `fsck` found everything in order: where `fsck --since last` goes on. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { CheckReport } from '../runtime/check.ts';

export interface CleanRun {
  /** All of the named checks were clean up to here. */
  until: Date;
  /** When the first of them was last made in full. */
  fullAt: Date;
}

/** Null if one of the checks was never clean: it has to be made in full. */
export async function findCleanRun(db: Db, names: string[]): Promise<CleanRun | null> {
  const rows = await db.selectFrom('clean_checks').selectAll().where('name', 'in', names).execute();
  if (rows.length < names.length) return null;
  const earliest = (times: Date[]) => new Date(Math.min(...times.map((time) => time.getTime())));
  return {
    until: earliest(rows.map((row) => row.clean_until)),
    fullAt: earliest(rows.map((row) => row.full_at)),
  };
}

/** The time by the clock of the database, which also gave the rows theirs. */
export async function databaseTime(db: Db): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('the database does not say what time it is');
  return row.at;
}

export interface MadeChecks {
  reports: CheckReport[];
  /** When the run began; what was written meanwhile belongs to the next one. */
  beganAt: Date;
  /** Absent: everything was looked at. */
  since?: Date | undefined;
}

/**
 * Remembers the checks that found nothing and left nothing out. One that looked only at what came after its mark moves it; one
 * that began later than the mark does not, as nobody has looked at what is in between.
 */
export async function rememberClean(db: Db, { reports, beganAt, since }: MadeChecks): Promise<void> {
  const clean = reports.filter(({ found, skipped }) => found === 0 && skipped.length === 0);
  for (const { name } of clean) {
    if (since === undefined) {
      await db
        .insertInto('clean_checks')
        .values({ name, clean_until: beganAt, full_at: beganAt })
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet({ clean_until: beganAt, full_at: beganAt }),
        )
        .execute();
    } else {
      await db
        .updateTable('clean_checks')
        .set({ clean_until: beganAt })
        .where('name', '=', name)
        .where('clean_until', '>=', since)
        .where('clean_until', '<', beganAt)
        .execute();
    }
  }
  // What was found must be found again until it is put right.
  const broken = reports.filter(({ found }) => found > 0).map(({ name }) => name);
  if (broken.length > 0) await db.deleteFrom('clean_checks').where('name', 'in', broken).execute();
}
