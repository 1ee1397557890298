/** When an authority was asked, and since when in vain: also before a restart, and by another node. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

export interface Requests {
  /** By the clock of the database; null when there was none. */
  last: { agoMs: number; failures: number } | null;
  /** Its newest token. */
  newest: { agoMs: number; endsAt: number } | null;
}

export async function readRequests(db: Db, authority: string): Promise<Requests> {
  const { rows } = await sql<{ ago: number; failures: number }>`
    select (extract(epoch from now() - last_at) * 1000)::float8 as ago, failures from authority_requests
    where authority = ${authority}`.execute(db);
  const { rows: tokens } = await sql<{ ago: number; valid_until: Date }>`
    select (extract(epoch from now() - created_at) * 1000)::float8 as ago, valid_until from timestamps
    where authority = ${authority} and valid_until is not null order by created_at desc limit 1`.execute(db);
  const [row, token] = [rows[0], tokens[0]];
  const newest = token ? { agoMs: token.ago, endsAt: token.valid_until.getTime() } : null;
  // A token of the time before requests were noted.
  const last = row ? { agoMs: row.ago, failures: row.failures } : newest && { ...newest, failures: 0 };
  return { last, newest };
}

/** Runs in the leader's commit, before the request: one that this process does not survive has failed. */
export async function noteRequest(db: Db, authority: string): Promise<void> {
  await sql`
    insert into authority_requests (authority, last_at, failures) values (${authority}, now(), 1)
    on conflict (authority) do update set last_at = now(), failures = authority_requests.failures + 1`.execute(
    db,
  );
}

/** Runs in the leader's commit. */
export async function noteToken(db: Db, authority: string): Promise<void> {
  await db
    .updateTable('authority_requests')
    .set({ failures: 0 })
    .where('authority', '=', authority)
    .execute();
}
