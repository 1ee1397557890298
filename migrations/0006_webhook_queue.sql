-- The queue beside the log. What is still to be sent is a narrow row of webhook_queue, which alone is claimed and goes
-- when the delivery is done. The log's row is written once with the event and then only where no index looks.

create table webhook_queue (
  workspace_id     text collate "C" not null,
  delivery_id      text collate "C" not null,
  -- With the two above the place of its row in the log.
  created_at       timestamptz      not null,
  event_id         text collate "C" not null,
  endpoint_id      text collate "C" not null,
  replay_id        text,
  -- First attempts go before retries.
  retrying         boolean          not null default false,
  next_attempt_at  timestamptz      not null,
  attempt_count    integer          not null default 0,
  first_attempt_at timestamptz,
  -- Who has it: fences off the late result of a node that lost its claim. In no index, so that a claim changes none.
  claim_id         text,
  claimed_by       integer,
  lease_until      timestamptz,
  primary key (workspace_id, delivery_id),
  check ((claim_id is null) = (claimed_by is null) and (claim_id is null) = (lease_until is null))
  -- Room in each page for the claimed version of every row.
) with (fillfactor = 45);
create index webhook_queue_due on webhook_queue (endpoint_id, retrying, next_attempt_at);
create index webhook_queue_by_replay on webhook_queue (replay_id) where replay_id is not null;

-- What is open goes on. Claims are given back: what was being sent is sent again.
insert into webhook_queue (workspace_id, delivery_id, created_at, event_id, endpoint_id, replay_id, retrying,
  next_attempt_at, attempt_count, first_attempt_at)
select workspace_id, id, created_at, event_id, endpoint_id, replay_id, retrying,
  coalesce(next_attempt_at, now()), attempt_count, first_attempt_at
from webhook_deliveries where open;
update webhook_deliveries set status = 'pending' where open and status = 'delivering';

drop index webhook_deliveries_open;
drop index webhook_deliveries_by_replay;
alter table webhook_deliveries
  drop column open,
  drop column retrying,
  drop column next_attempt_at,
  drop column first_attempt_at,
  drop column claim_id,
  drop column claimed_by,
  drop column lease_until,
  drop constraint webhook_deliveries_status_check,
  -- Pending is what has a row in the queue; whether it is being sent just now is told by the claim there.
  add constraint webhook_deliveries_status_check check (status in ('pending', 'succeeded', 'failed', 'skipped'));
create index webhook_deliveries_by_replay on webhook_deliveries (replay_id) where replay_id is not null;

-- A row grows to about twice its size with its first attempt, in its own page if there is room.
do $$
declare
  partition regclass;
begin
  for partition in select inhrelid from pg_inherits where inhparent = 'webhook_deliveries'::regclass loop
    execute format('alter table %s set (fillfactor = 40)', partition);
  end loop;
end
$$;

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
  -- Due by the database's own clock, whatever that of the node says.
  select workspace_id, id, created_at, event_id, endpoint_id, least(created_at, now())
  from made where status = 'pending';
  return null;
end
$$;
