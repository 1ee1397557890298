/** The lines of ordered endpoints in SQL: which deliveries wait for an earlier one of their resource, and which come next. */

import { sql } from 'kysely';
import type { Pool } from 'pg';
import type { Db } from '../../db/database.ts';

export interface Line {
  workspaceId: string;
  endpointId: string;
  position: number;
  /** There are events behind its position. */
  hasMore: boolean;
  isOver: boolean;
}

/** An event in the feed, for one endpoint. */
export interface PlacedEvent {
  id: string;
  type: string;
  createdAt: string;
  resource: string;
  place: number;
  envelope: string;
}

export interface ResourceLine {
  endpointId: string;
  resource: string;
}

/** When a delivery is due that waits for another one: never by itself. */
export const heldUntil = '9999-12-31T00:00:00Z';

export async function readLines(pool: Pool): Promise<Line[]> {
  const { rows } = await pool.query<
    Omit<Line, 'workspaceId' | 'endpointId'> & { workspace_id: string; endpoint_id: string }
  >({
    name: 'webhook-lines',
    text: `select l.workspace_id, l.endpoint_id, l.position, coalesce(l.until < now(), false) as "isOver",
                  exists (select 1 from event_segments s where s.workspace_id = l.workspace_id
                          and s.last_position > l.position) as "hasMore"
           from webhook_lines l order by l.endpoint_id`,
  });
  return rows.map(({ workspace_id: workspaceId, endpoint_id: endpointId, ...rest }) => ({
    ...{ workspaceId, endpointId },
    ...rest,
  }));
}

/** False when another node has moved it meanwhile. Locks it. */
export async function moveLine(db: Db, { endpointId, position }: Line, to: number): Promise<boolean> {
  const { rows } = await sql`
    update webhook_lines set position = ${to} where endpoint_id = ${endpointId} and position = ${position}
    returning 1`.execute(db);
  return rows.length > 0;
}

/** The endpoint gets the deliveries of events after `position` from its line. */
export async function openLine(
  db: Db,
  { workspaceId, endpointId, position }: Pick<Line, 'workspaceId' | 'endpointId' | 'position'>,
): Promise<void> {
  // One that is still being ended goes on where it is.
  await sql`
    insert into webhook_lines (workspace_id, endpoint_id, position)
    values (${workspaceId}, ${endpointId}, ${position})
    on conflict (endpoint_id) do update set until = null`.execute(db);
}

/**
 * Events whose commit still saw the endpoint as ordered get their deliveries from the line; it ends when no such commit can be
 * under way any more. Deliveries that both make exist once.
 */
export async function endLine(db: Db, endpointId: string): Promise<void> {
  await sql`
    update webhook_lines set until = now() + interval '10 minutes'
    where endpoint_id = ${endpointId} and until is null`.execute(db);
}

/** Unless deliveries of it still wait for each other. */
export async function removeLine(db: Db, endpointId: string): Promise<void> {
  await sql`
    delete from webhook_lines where endpoint_id = ${endpointId} and not exists (
      select 1 from webhook_queue where endpoint_id = ${endpointId} and place is not null
    )`.execute(db);
}

/** Makes the deliveries of events, in the order of the feed. The first of a resource is due, if none of it is under way. */
export async function enqueueInOrder(
  db: Db,
  endpoint: { workspaceId: string; id: string; enabled: boolean; filterPath: string | null },
  events: PlacedEvent[],
): Promise<void> {
  const { workspaceId, id, enabled, filterPath } = endpoint;
  const column = (of: (event: PlacedEvent) => string | number | null) => sql`${events.map(of)}`;
  await sql`
    with event as (
      select * from unnest(${column((e) => e.id)}::text[], ${column((e) => e.type)}::text[],
        ${column((e) => e.createdAt)}::timestamptz[], ${column((e) => e.resource)}::text[],
        ${column((e) => e.place)}::bigint[], ${column((e) => (filterPath === null ? null : e.envelope))}::text[])
        as e (id, type, created_at, resource, place, envelope)
    ), made as (
      insert into webhook_deliveries (workspace_id, id, event_id, endpoint_id, type, status, created_at)
      select ${workspaceId}, first_delivery_id(e.id, ${id}), e.id, ${id}, e.type, ${enabled ? 'pending' : 'skipped'},
             e.created_at
      from event e
      where case when ${filterPath}::jsonpath is null then true
                 when passes_filter(e.envelope, ${filterPath}::jsonpath) then true
                 else nextval('webhook_filtered_events') is null end
      on conflict do nothing
      returning id, event_id, created_at, status
    ), waiting as (
      select m.id, m.event_id, m.created_at, e.resource, e.place,
             row_number() over (partition by e.resource order by e.place) = 1 and not exists (
               select 1 from webhook_queue q
               where q.endpoint_id = ${id} and q.resource = e.resource and q.place is not null
             ) as is_first
      from made m join event e on e.id = m.event_id where m.status = 'pending'
    )
    insert into webhook_queue
      (workspace_id, delivery_id, created_at, event_id, endpoint_id, resource, place, asleep, next_attempt_at)
    select ${workspaceId}, id, created_at, event_id, ${id}, resource, place, not is_first,
           case when is_first then now() else ${heldUntil}::timestamptz end
    from waiting`.execute(db);
}

/** Makes the first delivery of each resource due if it is still held. */
export async function releaseFirst(pool: Pool, lines: ResourceLine[]): Promise<number> {
  if (lines.length === 0) return 0;
  const { rowCount } = await pool.query({
    name: 'webhook-release',
    text: `update webhook_queue q set asleep = false, next_attempt_at = now()
           from unnest($1::text[], $2::text[]) as line (endpoint_id, resource)
           cross join lateral (
             select w.ctid as row_at, w.next_attempt_at from webhook_queue w
             where w.endpoint_id = line.endpoint_id and w.resource = line.resource and w.place is not null
             order by w.place limit 1
           ) as head
           where head.next_attempt_at = $3 and q.ctid = head.row_at and q.next_attempt_at = $3`,
    values: [lines.map(({ endpointId }) => endpointId), lines.map(({ resource }) => resource), heldUntil],
  });
  return rowCount ?? 0;
}

/** The next resources with deliveries in the queue, by hopping from one to the next. */
export async function nextResources(pool: Pool, after: ResourceLine, limit: number): Promise<ResourceLine[]> {
  const { rows } = await pool.query<{ endpoint_id: string; resource: string }>({
    name: 'webhook-resources',
    text: `with recursive line (endpoint_id, resource, number) as (
             (select endpoint_id, resource, 1 from webhook_queue
              where place is not null and (endpoint_id, resource) > ($1, $2) order by endpoint_id, resource limit 1)
             union all
             select next.endpoint_id, next.resource, line.number + 1 from line cross join lateral (
               select q.endpoint_id, q.resource from webhook_queue q
               where q.place is not null and (q.endpoint_id, q.resource) > (line.endpoint_id, line.resource)
               order by q.endpoint_id, q.resource limit 1
             ) as next
             where line.number < $3
           )
           select endpoint_id, resource from line`,
    values: [after.endpointId, after.resource, limit],
  });
  return rows.map(({ endpoint_id: endpointId, resource }) => ({ endpointId, resource }));
}
