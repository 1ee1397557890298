-- Webhook endpoints and the log of deliveries to them. The log is the queue: a row that is `open` is still to be sent.

create table webhook_endpoints (
  workspace_id          text collate "C" not null references workspaces,
  id                    text collate "C" not null unique,
  url                   text             not null,
  description           text             not null default '',
  event_types           text[]           not null check (cardinality(event_types) > 0),
  enabled               boolean          not null default true,
  -- By its owner, because it answered 410, or after days without a success.
  disabled_reason       text check (disabled_reason in ('owner', 'gone', 'failing')),
  -- Requests per second; null: as fast as it answers.
  rate_limit            integer check (rate_limit > 0),
  -- The first failure since the last success.
  failing_since         timestamptz,
  previous_secret_until timestamptz,
  -- Counts the changes, so that nodes know when what they remember is outdated.
  revision              integer          not null default 1,
  deleted_at            timestamptz,
  created_at            timestamptz      not null default now(),
  updated_at            timestamptz      not null default now(),
  primary key (workspace_id, id),
  check (enabled = (disabled_reason is null))
);

create table webhook_deliveries (
  workspace_id     text collate "C" not null,
  id               text collate "C" not null,
  event_id         text collate "C" not null,
  endpoint_id      text collate "C" not null,
  type             text             not null,
  status           text             not null check (status in ('pending', 'delivering', 'succeeded', 'failed', 'skipped')),
  -- Still to be sent. A claim does not change it, so that claiming leaves every index as it is.
  open             boolean          not null check (open = (status in ('pending', 'delivering'))),
  -- First attempts go before retries.
  retrying         boolean          not null default false,
  next_attempt_at  timestamptz,
  first_attempt_at timestamptz,
  attempt_count    integer          not null default 0,
  attempts         jsonb            not null default '[]',
  -- Who has it: fences off the late result of a node that lost its claim.
  claim_id         text,
  claimed_by       integer,
  lease_until      timestamptz,
  -- The exact text, for a test, which is no event of the feed.
  envelope         text,
  replay_id        text,
  created_at       timestamptz      not null,
  primary key (workspace_id, id, created_at)
) partition by range (created_at) ;
create index webhook_deliveries_by_endpoint on webhook_deliveries (endpoint_id, id);
create index webhook_deliveries_open on webhook_deliveries (endpoint_id, retrying, next_attempt_at) where open;
-- For the day that nobody made a partition for: nothing is ever refused for want of one.
create table webhook_deliveries_other partition of webhook_deliveries default with (fillfactor = 70);

-- One delivery for each endpoint that subscribes to an event, in the commit of the event itself, whoever writes it.
-- The id is made of the event's time and a hash of both ids: the same event and endpoint give the same delivery.
create function fan_out_events() returns trigger language plpgsql as $$
begin
  insert into webhook_deliveries (workspace_id, id, event_id, endpoint_id, type, status, open, next_attempt_at, created_at)
  select e.workspace_id, 'dlv_' || substr(e.id, 5, 10) || upper(substr(md5(e.id || p.id), 1, 16)), e.id, p.id, e.type,
         case when p.enabled then 'pending' else 'skipped' end, p.enabled,
         case when p.enabled then e.created_at end, e.created_at
  from new_events e
  join webhook_endpoints p on p.workspace_id = e.workspace_id and p.deleted_at is null and e.type = any (p.event_types);
  return null;
end
$$;
create trigger events_fan_out after insert on events
  referencing new table as new_events for each statement execute function fan_out_events();

-- The nodes that claim deliveries. Each holds an advisory lock under its id while it lives, so that what a dead one
-- had claimed can be given back at once instead of after its lease.
create table webhook_nodes (
  id         integer     primary key,
  started_at timestamptz not null default now()
);

-- A range of past events to be sent to an endpoint again. Works through the feed from `position` to `last_position`.
create table webhook_replays (
  workspace_id text collate "C" not null references workspaces,
  id           text collate "C" not null,
  endpoint_id  text collate "C" not null,
  from_time    timestamptz      not null,
  to_time      timestamptz      not null,
  -- Only events whose last delivery to this endpoint ended so; null: all.
  status       text,
  -- null: the types the endpoint subscribes to.
  types        text[],
  state        text             not null default 'running' check (state in ('running', 'completed', 'cancelled')),
  position     bigint           not null default 0,
  total        integer          not null,
  done         integer          not null default 0,
  created_at   timestamptz      not null default now(),
  finished_at  timestamptz,
  primary key (workspace_id, id)
);
create index webhook_replays_running on webhook_replays (created_at) where state = 'running';
