-- A restore takes the feed back, and the positions after it are given a second time. So that a cursor from before is known
-- for what it is, the feed has a generation, which every restore replaces by one that never was. The first one is empty.
create table event_feed (
  is_only    boolean     primary key default true check (is_only),
  generation text        not null default '',
  began_at   timestamptz not null default now()
);
insert into event_feed default values;

-- Nothing becomes due long before it comes in: a claim looks at nothing that is older than all that was open.
create or replace function fan_out_events() returns trigger language plpgsql as $$
begin
  with made as (
    insert into webhook_deliveries (workspace_id, id, event_id, endpoint_id, type, status, created_at)
    select e.workspace_id, first_delivery_id(e.id, p.id), e.id, p.id, e.type,
           case when p.enabled then 'pending' else 'skipped' end, e.created_at
    from new_events e
    join webhook_endpoints p on p.workspace_id = e.workspace_id and p.deleted_at is null and e.type = any (p.event_types)
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
