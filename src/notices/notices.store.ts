/** Notices in SQL: those that are raised, raised and cleared with their events, listed. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { insertAll } from '../db/writes.ts';
import type { EventData, NoticeType } from '../events/catalogue.ts';
import { eventWrite } from '../events/events.ts';
import { columnsOfThings, type Thing } from '../events/notice.ts';
import { newId } from '../runtime/ids.ts';

export interface Notice {
  workspaceId: string;
  id: string;
  type: NoticeType;
  thing: string;
  subject: string;
  data: Record<string, unknown>;
  since: Date;
  raisedAt: Date;
  wellSince: Date | null;
  clearedAt: Date | null;
}

interface NoticeRow {
  workspace_id: string;
  id: string;
  type: NoticeType;
  thing: string;
  subject: string;
  data: Record<string, unknown>;
  since: Date;
  raised_at: Date;
  well_since: Date | null;
  cleared_at: Date | null;
}

export async function readClock(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(db);
  if (!rows[0]) throw new Error('a select without a row');
  return rows[0].now;
}

/** Raised notices of these types about the whole installation. */
export async function openOfInstallation(db: Db, workspaceId: string): Promise<Notice[]> {
  const { rows } = await sql<NoticeRow>`
    select * from notices where workspace_id = ${workspaceId} and cleared_at is null and thing = ''`.execute(
    db,
  );
  return rows.map(toNotice);
}

export async function openOfThings(db: Db, type: NoticeType, things: Thing[]): Promise<Notice[]> {
  const [workspaceIds, ids] = columnsOfThings(things);
  const { rows } = await sql<NoticeRow>`
    select n.* from unnest(${workspaceIds}::text[], ${ids}::text[]) as t (workspace_id, id)
    join notices n on n.workspace_id = t.workspace_id and n.type = ${type} and n.thing = t.id
    where n.cleared_at is null`.execute(db);
  return rows.map(toNotice);
}

export interface NewNotice {
  workspaceId: string;
  type: NoticeType;
  thing: string;
  subject: string;
  data: Record<string, unknown>;
  since: Date;
}

/** With the event of each. */
export async function raise(db: Db, raised: NewNotice[], at: Date): Promise<Notice[]> {
  const notices = raised.map((one) => ({
    ...one,
    id: newId('ntc'),
    raisedAt: at,
    wellSince: null,
    clearedAt: null,
  }));
  await insertAll(
    db,
    notices.flatMap((notice) => [
      {
        table: 'notices' as const,
        row: {
          workspace_id: notice.workspaceId,
          id: notice.id,
          type: notice.type,
          thing: notice.thing,
          subject: notice.subject,
          data: notice.data,
          since: notice.since,
          raised_at: at,
          well_since: null,
          cleared_at: null,
        },
      },
      eventOf(notice, 'raised', at),
    ]),
  );
  return notices;
}

/** With the event of each. */
export async function clear(db: Db, cleared: Notice[], at: Date): Promise<void> {
  await set(db, cleared, sql`cleared_at = ${at}`);
  await insertAll(
    db,
    cleared.map((notice) => eventOf(notice, 'cleared', at)),
  );
}

/** All is well; the notice is cleared if this lasts. */
export async function markWell(db: Db, notices: Notice[], at: Date): Promise<void> {
  await set(db, notices, sql`well_since = ${at}`);
}

/** It is wrong as before, with these figures now. Nobody is told. */
export async function keepRaised(
  db: Db,
  kept: { notice: Notice; data: Record<string, unknown> }[],
): Promise<void> {
  if (kept.length === 0) return;
  const rows = kept.map(({ notice: { workspaceId, id }, data }) => ({ workspace_id: workspaceId, id, data }));
  await sql`
    update notices n set well_since = null, data = k.data
    from json_to_recordset(${JSON.stringify(rows)}) as k (workspace_id text, id text, data jsonb)
    where n.workspace_id = k.workspace_id and n.id = k.id`.execute(db);
}

async function set(db: Db, notices: Notice[], change: ReturnType<typeof sql>): Promise<void> {
  if (notices.length === 0) return;
  const [workspaceIds, ids] = columnsOfThings(notices);
  await sql`
    update notices n set ${change} from unnest(${workspaceIds}::text[], ${ids}::text[]) as t (workspace_id, id)
    where n.workspace_id = t.workspace_id and n.id = t.id`.execute(db);
}

function eventOf({ workspaceId, id, type, data, since }: Notice, state: 'raised' | 'cleared', at: Date) {
  const told = { notice_id: id, state, since: since.toISOString(), ...data };
  return eventWrite({ workspaceId, type, at, data: told as unknown as EventData[NoticeType] });
}

/** Newest first. */
export async function listNotices(
  db: Db,
  query: {
    workspaceId: string;
    state: 'raised' | 'cleared' | undefined;
    before: string | undefined;
    limit: number;
  },
): Promise<Notice[]> {
  const { workspaceId, state, before, limit } = query;
  let select = db
    .selectFrom('notices')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .orderBy('id', 'desc')
    .limit(limit);
  if (state !== undefined) select = select.where('cleared_at', state === 'raised' ? 'is' : 'is not', null);
  if (before !== undefined) select = select.where('id', '<', before);
  return ((await select.execute()) as NoticeRow[]).map(toNotice);
}

/** Keeps what was cleared for a while, for those who look back. Removes a bounded number at a time. */
export async function dropOldNotices(db: Db): Promise<void> {
  await sql`
    delete from notices where (workspace_id, id) in (
      select workspace_id, id from notices
      where cleared_at < now() - interval '90 days' order by cleared_at limit 1000)`.execute(db);
}

export function toNotice(row: NoticeRow): Notice {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    type: row.type,
    thing: row.thing,
    subject: row.subject,
    data: row.data,
    since: row.since,
    raisedAt: row.raised_at,
    wellSince: row.well_since,
    clearedAt: row.cleared_at,
  };
}
