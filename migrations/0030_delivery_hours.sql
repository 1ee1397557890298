-- How many deliveries ended how, by the hour in which they were made: a month of the overview adds up 720 rows, not millions.
create table delivery_hours (
  workspace_id text collate "C" not null,
  hour         timestamptz      not null check (hour = date_trunc('hour', hour, 'UTC')),
  succeeded    bigint           not null,
  failed       bigint           not null,
  skipped      bigint           not null,
  -- With any, the hour is counted again later.
  pending      bigint           not null,
  counted_at   timestamptz      not null default now(),
  primary key (workspace_id, hour)
);
create index delivery_hours_open on delivery_hours (counted_at) where pending > 0;

-- The hours before this one were counted, for all workspaces.
create table delivery_hours_counted (
  is_only boolean     primary key default true check (is_only),
  until   timestamptz not null
);

-- Rows come in by their time, so that a few bytes for each hundred pages find those of an hour.
create index webhook_deliveries_by_time on webhook_deliveries using brin (created_at) with (pages_per_range = 64);
