/** Signs in SQL: what each node sees of the installation, and since when. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { NoticeType } from '../events/catalogue.ts';
import type { Sign } from '../events/notice.ts';

/** Longer than a restart, a change of the leader or a failover of the database takes; short enough to tell in a minute. */
export const usualHoldMs = 40_000;

/** A node that has not reported for this long may be gone. */
const freshFor = "interval '30 seconds'";

/** Stores what the reporter sees now instead of what it saw before. What it goes on seeing keeps its beginning. */
export async function saveSigns(
  db: Db,
  reporter: string,
  { signs, holdMs }: { signs: Sign[]; holdMs: number },
): Promise<void> {
  const rows = signs.map(({ type, subject, data, weak = false, holdMs: own = holdMs }) => ({
    ...{ type, subject, data, weak },
    hold_ms: own,
  }));
  await sql`
    with seen as (
      select * from json_to_recordset(${JSON.stringify(rows)})
        as s (type text, subject text, data jsonb, weak boolean, hold_ms integer)
    ), gone as (
      delete from notice_signs
      where reporter = ${reporter} and (type, subject) not in (select type, subject from seen)
    )
    insert into notice_signs as old (reporter, type, subject, data, since, hold_ms)
    select ${reporter}, type, subject, data, case when weak then null else now() end, hold_ms from seen
    on conflict (reporter, type, subject) do update set
      data = excluded.data, hold_ms = excluded.hold_ms, seen_at = now(),
      since = case when excluded.since is null then null else coalesce(old.since, now()) end`.execute(db);
}

export interface StoredSign {
  type: NoticeType;
  subject: string;
  data: Record<string, unknown>;
  /** Null: only weak ones. */
  since: Date | null;
  /** Whether it has lasted long enough to be told. */
  held: boolean;
}

/** What any node sees. */
export async function readSigns(db: Db): Promise<StoredSign[]> {
  const { rows } = await sql<StoredSign>`
    select distinct on (type, subject) type, subject, data, since,
      coalesce(since <= now() - hold_ms * interval '1 millisecond', false) as held
    from notice_signs where seen_at > now() - ${sql.raw(freshFor)}
    order by type, subject, since nulls last`.execute(db);
  return rows;
}

/** Of nodes that are gone for good. */
export async function dropOldSigns(db: Db): Promise<void> {
  await sql`delete from notice_signs where seen_at < now() - interval '1 hour'`.execute(db);
}
