/** Replays in SQL: which events belong to one, their new deliveries, and its progress. */
import { type Selectable, sql, type UpdateObject } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { idBound } from '../../runtime/ids.ts';

export type ReplayRow = Selectable<Tables['webhook_replays']>;

/** The columns of a replay that select its events. */
export type Selection = Pick<
  ReplayRow,
  'workspace_id' | 'endpoint_id' | 'from_time' | 'to_time' | 'status' | 'types' | 'filter_path'
>;

export async function findReplay(
  db: Db,
  { workspaceId, id, lock = false }: { workspaceId: string; id: string; lock?: boolean },
): Promise<ReplayRow | undefined> {
  const select = db
    .selectFrom('webhook_replays')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id);
  return (lock ? select.forUpdate() : select).executeTakeFirst();
}

/** Returns the replay if its next batch is due and no other node is working on it. */
export async function takeReplay(db: Db, workspaceId: string, id: string): Promise<ReplayRow | undefined> {
  return db
    .selectFrom('webhook_replays')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('state', '=', 'running')
    .where('next_batch_at', '<=', sql<Date>`now()`)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
}

export async function changeReplay(
  db: Db,
  { workspace_id, id }: ReplayRow,
  values: UpdateObject<Tables, 'webhook_replays'>,
): Promise<void> {
  await db
    .updateTable('webhook_replays')
    .set(values)
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .execute();
}

export async function countEvents(db: Db, selection: Selection): Promise<number> {
  const events = eventsAfter(firstBound(selection), selection);
  const { rows } = await sql<{
    count: number;
  }>`select count(*)::integer as count from (${events}) as event`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Creates the next deliveries of a replay. They count as retries, so that new events go first. */
export async function enqueueEvents(
  db: Db,
  replay: ReplayRow,
  limit: number,
): Promise<{ count: number; lastEventId: string }> {
  const at = new Date();
  const { rows } = await sql<{ event_id: string }>`
    with made as (
      insert into webhook_deliveries
        (workspace_id, id, event_id, endpoint_id, type, status, replay_id, created_at)
      select workspace_id, ${idBound('dlv', at)} || upper(substr(md5(id || ${replay.id}), 1, 16)), id,
             ${replay.endpoint_id}, type, 'pending', ${replay.id}, ${at}
      from (${eventsAfter(replay.last_event_id, replay)} limit ${limit}) as event
      returning workspace_id, id, created_at, event_id, endpoint_id, replay_id
    )
    insert into webhook_queue
      (workspace_id, delivery_id, created_at, event_id, endpoint_id, replay_id, retrying, next_attempt_at)
    select workspace_id, id, created_at, event_id, endpoint_id, replay_id, true, now() from made
    returning event_id`.execute(db);
  const ids = rows.map(({ event_id }) => event_id).sort();
  // Fewer than the limit means that the range is exhausted.
  const lastEventId = ids.length < limit ? lastBound(replay) : (ids.at(-1) ?? replay.last_event_id);
  return { count: ids.length, lastEventId };
}

export async function countOpenDeliveries(db: Db, replayId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from webhook_queue where replay_id = ${replayId}`.execute(db);
  return rows[0]?.count ?? 0;
}

export async function countEndedDeliveries(
  db: Db,
  replayId: string,
): Promise<{ succeeded: number; failed: number; skipped: number }> {
  const rows = await db
    .selectFrom('webhook_deliveries')
    .select((select) => ['status', select.fn.countAll<string>().as('count')])
    .where('replay_id', '=', replayId)
    .where('status', '!=', 'pending')
    .groupBy('status')
    .execute();
  const of = (status: string) => Number(rows.find((row) => row.status === status)?.count ?? 0);
  return { succeeded: of('succeeded'), failed: of('failed'), skipped: of('skipped') };
}

/** The id of an event may be a little earlier or later than the event's own time, which is what counts. */
const idSlackMs = 60 * 60 * 1000;

/** Sorts before the ids of all events of the range. */
export function firstBound({ from_time }: Pick<Selection, 'from_time'>): string {
  return idBound('evt', new Date(from_time.getTime() - idSlackMs));
}

function lastBound({ to_time }: Pick<Selection, 'to_time'>): string {
  return idBound('evt', new Date(to_time.getTime() + idSlackMs));
}

/** In order of their ids. The last delivery of an event is that of its latest replay, or else its first. */
function eventsAfter(eventId: string, selection: Selection) {
  const { workspace_id, endpoint_id, from_time, to_time, status, types, filter_path } = selection;
  return sql`
    select e.workspace_id, e.id, e.type from events e
    where e.workspace_id = ${workspace_id} and e.id > ${eventId} and e.id < ${lastBound(selection)}
      and e.created_at >= ${from_time} and e.created_at < ${to_time} and e.type = any (${types}::text[])
      and (${filter_path}::jsonpath is null or passes_filter(e.envelope, ${filter_path}::jsonpath))
      and (${status}::text is null or ${status} = coalesce(
        (select d.status from webhook_deliveries d
         where d.endpoint_id = ${endpoint_id} and d.event_id = e.id and d.replay_id is not null
         order by d.id desc limit 1),
        (select d.status from webhook_deliveries d
         where d.workspace_id = e.workspace_id and d.id = first_delivery_id(e.id, ${endpoint_id})
           and d.created_at = e.created_at)
      ))
    order by e.id`;
}
