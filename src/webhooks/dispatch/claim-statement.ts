/** The SQL that claims deliveries from the queue. */

/** Deliveries of one endpoint that are due and not claimed, the longest overdue first. */
const dueOf = (retrying: boolean) => `
  select q.ctid as row_at, q.next_attempt_at from webhook_queue q
  where not q.asleep and q.endpoint_id = active.endpoint_id and q.retrying = ${retrying}
    and q.next_attempt_at between $10 and now()
    and (q.claim_id is null or q.lease_until < now())
  order by q.next_attempt_at
  limit room.free
  for update skip locked`;

/** The endpoint after another, among those that have deliveries awake. */
const endpointAfter = (wrapped: string, where: string) => `
  (select q.endpoint_id, ${wrapped} as wrapped from webhook_queue q
   where not q.asleep and ${where} and q.next_attempt_at >= $10
   order by q.endpoint_id limit 1)`;

/**
 * Finds endpoints with due deliveries by hopping through the index from one to the next, so that the backlog of one costs
 * the others nothing, and takes as many of each as it has room for. It begins after the endpoint $7, where the last claim
 * stopped, so that the first endpoints do not take the whole limit, and goes on from the start up to that one. First
 * attempts go before retries, but a quarter of the room is for retries that are long overdue, so that an endpoint with an
 * endless backlog of first attempts still gets its retries. A claim that stops because it has looked at enough endpoints
 * returns a row without `row_at`. Nothing is due before $10, so index entries of deliveries that ended before then are
 * skipped; see low-water.ts.
 */
export const claimText = `
with recursive active (endpoint_id, wrapped, number) as (
  select $7::text collate "C", false, 0
  union all
  select next.endpoint_id, next.wrapped, active.number + 1 from active cross join lateral (
    ${endpointAfter('active.wrapped', `q.endpoint_id > active.endpoint_id and (not active.wrapped or q.endpoint_id <= $7)`)}
    union all
    ${endpointAfter('true', 'not active.wrapped and q.endpoint_id <= $7')}
    limit 1
  ) as next
  where active.number < $9
), due as materialized (
  select active.endpoint_id, active.wrapped, found.row_at
  from active
  left join webhook_endpoints e on e.id = active.endpoint_id
  cross join lateral (
    select granted.free, floor(granted.free * 0.25 + random()) as for_overdue from (
      select case when e.id is null or e.workspace_id = any ($8::text[]) then 0
                  else coalesce(($1::jsonb ->> active.endpoint_id)::integer, $2) end as free
    ) as granted
  ) as room
  cross join lateral (
    select row_at from (
      select row_at from (
        select row_at, 1 as turn, next_attempt_at from (${dueOf(false)}) as first_attempt
        union all
        select row_at,
               case when next_attempt_at < now() - interval '10 seconds'
                      and row_number() over (order by next_attempt_at) <= room.for_overdue then 0 else 2 end,
               next_attempt_at
        from (${dueOf(true)}) as retry
      ) as candidate
      order by turn, next_attempt_at
      limit room.free
    ) as taken
    union all
    select null where active.number = $9
  ) as found
  where active.number > 0
  limit $3
), claimed as (
  update webhook_queue q
  set claim_id = $4, claimed_by = $5, lease_until = now() + $6 * interval '1 millisecond'
  from due where q.ctid = due.row_at
  returning q.workspace_id, q.delivery_id, q.created_at, q.event_id, q.endpoint_id, q.attempt_count, q.manual_count,
    q.first_attempt_at, q.resume_at is not null as by_hand,
    q.late_ms + extract(epoch from now() - q.next_attempt_at)::float8 * 1000 as late_ms, q.resource, q.ctid as row_at
)
select *, null as wrapped from claimed
union all
select null, null, null, null, endpoint_id, null, null, null, null, null, null, null, wrapped from due where row_at is null`;

/** Wakes retries that have become due. */
export const wakeText = `
update webhook_queue set asleep = false where ctid = any (array(
  select ctid from webhook_queue where asleep and next_attempt_at between $2 and now()
  order by next_attempt_at limit $1 for update skip locked
))`;

/** The time until the first delivery is due; 0 while one is not asleep, be it claimed or not. */
export const nextDueText = `
select coalesce(
  (select 0 from webhook_queue where not asleep and next_attempt_at >= $1 order by endpoint_id limit 1),
  (select greatest(0, extract(epoch from next_attempt_at - now()) * 1000)::float8
   from webhook_queue where asleep order by next_attempt_at limit 1)
) as due_in_ms`;
