-- Links by which a worker signs one entry, in one role, on their own device. The entry accepts one sign-off of each worker in each
-- role, so a link signs once.
-- compatible since: 0054_anchored_delays
create table sign_requests (
  workspace_id   text collate "C" not null,
  id             text collate "C" not null,
  token_hash     bytea            not null unique check (length(token_hash) = 32),
  asset_id       text             not null,
  maintenance_id text collate "C" not null,
  worker_id      text collate "C" not null,
  worker_address text             not null,
  role           text             not null check (role in ('performed', 'inspected', 'certified')),
  -- What will be signed, but for the time.
  fields         jsonb            not null,
  requested_by   jsonb            not null,
  expires_at     timestamptz      not null,
  created_at     timestamptz      not null default now(),
  -- The newest link replaces the earlier one.
  primary key (workspace_id, maintenance_id, worker_id, role),
  foreign key (workspace_id, worker_id) references workers
);
