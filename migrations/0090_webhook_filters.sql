-- compatible since: 0054_anchored_delays
-- Endpoints subscribe by patterns such as `record.*`, and may filter events by their content.

alter table webhook_endpoints
  -- The expression as its owner wrote it, and what it was compiled to.
  add column filter text,
  add column filter_path jsonpath,
  add check ((filter is null) = (filter_path is null));
-- Of the endpoint, when the replay was started.
alter table webhook_replays add column filter_path jsonpath;

-- Counts the events that filters held back. Outside of transactions, so that commits never wait for each other.
create sequence webhook_filtered_events;

-- What an endpoint may subscribe to by to get events of this type: as much work for many types as for few.
create function event_type_patterns(type text) returns text[] language sql immutable strict parallel safe
  return array[type, '*', split_part(type, '.', 1) || '.*',
               split_part(type, '.', 1) || '.' || split_part(type, '.', 2) || '.*',
               split_part(type, '.', 1) || '.' || split_part(type, '.', 2) || '.' || split_part(type, '.', 3) || '.*'];

-- Whether a filter lets an event through. One that cannot be evaluated does: an event too many is better than one too few,
-- and an error would undo the commit that the event belongs to.
create function passes_filter(envelope text, filter_path jsonpath) returns boolean language plpgsql stable parallel safe as $$
begin
  return coalesce(envelope::jsonb @@ filter_path, false);
exception when others then
  return true;
end
$$;

create or replace function fan_out_events() returns trigger language plpgsql as $$
begin
  with made as (
    insert into webhook_deliveries (workspace_id, id, event_id, endpoint_id, type, status, created_at)
    select e.workspace_id, first_delivery_id(e.id, p.id), e.id, p.id, e.type,
           case when p.enabled then 'pending' else 'skipped' end, e.created_at
    from new_events e
    -- Once for each event, not for each of its endpoints.
    cross join lateral (select event_type_patterns(e.type) as patterns offset 0) as t
    join webhook_endpoints p on p.workspace_id = e.workspace_id and p.deleted_at is null
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
