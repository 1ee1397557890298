/** Looks in SQL: which things to look at, and when. Triggers add a row for each change, so nothing is ever searched for. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { columnsOfThings, type Thing } from '../events/notice.ts';

export interface Look extends Thing {
  id: string;
  rowId: number;
  kind: string;
}

/** The longest due first. */
export async function takeLooks(db: Db, limit: number): Promise<Look[]> {
  const { rows } = await sql<{ id: number; kind: string; workspace_id: string; thing: string }>`
    delete from notice_looks where id in (
      select id from notice_looks where at <= now() order by at, id limit ${limit})
    returning id, kind, workspace_id, thing`.execute(db);
  return rows.map((row) => ({ rowId: row.id, kind: row.kind, workspaceId: row.workspace_id, id: row.thing }));
}

/** Instead of all later looks that were planned at these things before. */
export async function planLooks(
  db: Db,
  kind: string,
  { things, at }: { things: Thing[]; at: (Thing & { at: Date })[] },
): Promise<void> {
  const [workspaceIds, ids] = columnsOfThings(things);
  await sql`
    delete from notice_looks l using unnest(${workspaceIds}::text[], ${ids}::text[]) as t (workspace_id, id)
    where l.workspace_id = t.workspace_id and l.kind = ${kind} and l.thing = t.id and l.planned`.execute(db);
  const [workspaces, thingIds] = columnsOfThings(at);
  await sql`
    insert into notice_looks (kind, workspace_id, thing, at, planned)
    select ${kind}, workspace_id, id, at, true
    from unnest(${workspaces}::text[], ${thingIds}::text[], ${at.map(({ at }) => at.toISOString())}::timestamptz[])
      as t (workspace_id, id, at)`.execute(db);
}
