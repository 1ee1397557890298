-- compatible since: 0054_anchored_delays
-- Endpoints may get the events of each resource one after the other, in the order of the feed.

alter table webhook_endpoints
  add column ordering text not null default 'none' check (ordering in ('none', 'resource'));

alter table webhook_queue
  -- What an ordered delivery is about, and the position of its event. Only the first of each resource is due; the others wait
  -- until the year 9999, asleep, and become due one by one.
  add column resource text collate "C",
  add column place bigint,
  add check ((resource is null) = (place is null));
create index webhook_queue_lines on webhook_queue (endpoint_id, resource, place) where place is not null;

-- How far each ordered endpoint has been given its deliveries, which a loop makes from the feed.
create table webhook_lines (
  workspace_id text collate "C" not null,
  endpoint_id  text collate "C" primary key,
  -- Events up to this one have theirs.
  position     bigint           not null,
  -- It was ordered until shortly before then. Deliveries that the commits of events make since exist already.
  until        timestamptz
);

create or replace function fan_out_events() returns trigger language plpgsql as $$
begin
  with made as (
    insert into webhook_deliveries (workspace_id, id, event_id, endpoint_id, type, status, created_at)
    select e.workspace_id, first_delivery_id(e.id, p.id), e.id, p.id, e.type,
           case when p.enabled then 'pending' else 'skipped' end, e.created_at
    from new_events e
    -- Once for each event, not for each of its endpoints.
    cross join lateral (select event_type_patterns(e.type) as patterns offset 0) as t
    join webhook_endpoints p on p.workspace_id = e.workspace_id and p.deleted_at is null and p.ordering = 'none'
      and case when not p.event_types && t.patterns then false
               when p.filter_path is null then true
               when passes_filter(e.envelope, p.filter_path) then true
               else nextval('webhook_filtered_events') is null end
    returning workspace_id, id, event_id, endpoint_id, status, created_at
  )
  insert into webhook_queue (workspace_id, delivery_id, created_at, event_id, endpoint_id, next_attempt_at)
  -- Due by the database's own clock, whatever that of the node says, which orders only what comes close together.
  select workspace_id, id, created_at, event_id, endpoint_id,
         greatest(least(created_at, now()), now() - interval '5 seconds')
  from made where status = 'pending';
  return null;
end
$$;
