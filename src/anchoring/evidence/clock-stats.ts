/** Figures about timestamps, for metrics and the overview. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';

export interface LastToken {
  /** The URL of the authority. */
  authority: string;
  at: Date;
  /** By the clock of the database. */
  ageSeconds: number;
}

export interface ClockStats {
  /** Batches that no timestamp authority vouches for; counted up to 100,000. */
  unstampedBatches: number;
  /** When the next certificate ends that a token relies on which is not renewed; null when there is none. */
  firstEnd: Date | null;
}

const mostCounted = 100_000;

export async function readClockStats(db: Db): Promise<ClockStats> {
  const { rows } = await sql<{ unstamped: number; first_end: Date | null }>`
    select
      (select count(*) from (
        select 1 from anchor_batches where not stamped limit ${mostCounted}) as counted) as unstamped,
      (select valid_until from timestamps where valid_until > now() and not renewed
       order by valid_until limit 1) as first_end`.execute(db);
  return { unstampedBatches: rows[0]?.unstamped ?? 0, firstEnd: rows[0]?.first_end ?? null };
}

/** Counted up to 100,000. */
export async function countPendingOts(db: Db): Promise<number> {
  const { rows } = await sql<{ pending: number }>`
    select count(*) as pending from (
      select 1 from timestamps where not complete limit ${mostCounted}) as counted`.execute(db);
  return rows[0]?.pending ?? 0;
}

/** Complete, but without a header: nobody has checked what calendars say. Counted up to 100,000. */
export async function countUncheckedOts(db: Db): Promise<number> {
  const { rows } = await sql<{ unchecked: number }>`
    select count(*) as unchecked from (
      select 1 from timestamps
      where kind = 'opentimestamps' and complete and cardinality(headers) = 0 limit ${mostCounted}) as counted`.execute(
    db,
  );
  return rows[0]?.unchecked ?? 0;
}

/** Of those authorities that have given any. */
export async function readLastTokens(db: Db, authorities: readonly string[]): Promise<LastToken[]> {
  if (authorities.length === 0) return [];
  const { rows } = await sql<{ authority: string; at: Date; age: number }>`
    select last.authority, last.at, extract(epoch from now() - last.at)::float8 as age
    from unnest(${[...authorities]}::text[]) as wanted (authority)
    cross join lateral (
      select t.authority, t.created_at as at from timestamps t
      where t.authority = wanted.authority order by t.created_at desc limit 1
    ) as last`.execute(db);
  return rows.map(({ authority, at, age }) => ({ authority, at, ageSeconds: Math.max(0, age) }));
}

/** Of batches that no timestamp authority vouches for: how many, counted up to 100,000, and the age of the oldest. */
export async function readUnstamped(db: Db): Promise<{ batches: number; oldestSeconds: number | null }> {
  const { rows } = await sql<{ batches: number; oldest: number | null }>`
    select count(*) as batches, extract(epoch from now() - min(created_at))::float8 as oldest
    from (select created_at from anchor_batches where not stamped order by id limit ${mostCounted}) as counted`.execute(
    db,
  );
  return { batches: rows[0]?.batches ?? 0, oldestSeconds: rows[0]?.oldest ?? null };
}
