-- Replays: past events sent to an endpoint again, as deliveries of their own.

-- As exact as the times of the service, which finds the rows of an event by them.
alter table events alter column created_at type timestamptz(3);

-- The delivery that the commit of an event makes for an endpoint. The same event and endpoint give the same id.
create function first_delivery_id(event_id text, endpoint_id text) returns text language sql immutable
  return 'dlv_' || substr(event_id, 5, 10) || upper(substr(md5(event_id || endpoint_id), 1, 16));

create or replace function fan_out_events() returns trigger language plpgsql as $$
begin
  insert into webhook_deliveries (workspace_id, id, event_id, endpoint_id, type, status, open, next_attempt_at, created_at)
  select e.workspace_id, first_delivery_id(e.id, p.id), e.id, p.id, e.type,
         case when p.enabled then 'pending' else 'skipped' end, p.enabled,
         -- By the database's own clock, whatever that of the node says.
         case when p.enabled then least(e.created_at, now()) end, e.created_at
  from new_events e
  join webhook_endpoints p on p.workspace_id = e.workspace_id and p.deleted_at is null and e.type = any (p.event_types);
  return null;
end
$$;

alter table webhook_replays
  drop column position,
  -- It works through the events by id; this one and all before it are done.
  add column last_event_id text collate "C" not null,
  -- Spaces the batches, whichever node makes them.
  add column next_batch_at timestamptz not null default now(),
  alter column types set not null;
alter table webhook_replays rename column done to enqueued;

create index webhook_deliveries_by_replay on webhook_deliveries (replay_id, open) where replay_id is not null;
create index webhook_deliveries_again on webhook_deliveries (endpoint_id, event_id, id) where replay_id is not null;
