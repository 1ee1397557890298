-- Assets with their versions, transfers and installations, who may see them and work on them, and when work is due.

-- An asset as it is today. Its name is the caller's own, or one of ours that starts with ast_.
create table assets (
  workspace_id    text collate "C" not null references workspaces,
  asset_id        text collate "C" not null,
  -- Its owner today.
  vault_id        text collate "C" not null,
  name            text             not null,
  serial_number   text             not null default '',
  part_number     text             not null default '',
  -- RFC 8785 form.
  metadata        text             not null default '{}',
  -- What it is installed in today.
  parent_asset_id text collate "C",
  -- They never go down.
  usage_hours     double precision not null default 0 check (usage_hours >= 0),
  usage_cycles    bigint           not null default 0 check (usage_cycles >= 0),
  -- The newest one.
  version         integer          not null default 1,
  -- The newest leaf of its chain of versions and transfers.
  last_leaf       bytea            not null check (length(last_leaf) = 32),
  -- The transfer that is under way.
  transfer_id     text collate "C",
  created_at      timestamptz      not null default now(),
  updated_at      timestamptz      not null default now(),
  primary key (workspace_id, asset_id),
  foreign key (workspace_id, vault_id) references vaults,
  foreign key (workspace_id, parent_asset_id) references assets,
  check (parent_asset_id <> asset_id)
);
create index assets_in_order on assets (workspace_id, created_at, asset_id);
create index assets_by_vault on assets (workspace_id, vault_id, created_at, asset_id);
create index assets_by_serial_number on assets (workspace_id, serial_number, created_at, asset_id) where serial_number <> '';
create index assets_by_parent on assets (workspace_id, parent_asset_id, created_at, asset_id) where parent_asset_id is not null;

-- What was anchored of it: one document for each version.
create table asset_versions (
  workspace_id text collate "C" not null,
  asset_id     text collate "C" not null,
  version      integer          not null check (version > 0),
  -- Its owner then.
  vault_id     text collate "C" not null,
  -- RFC 8785 form.
  document     text             not null,
  salt         bytea            not null check (length(salt) = 32),
  digest       bytea            not null check (length(digest) = 32),
  created_at   timestamptz      not null default now(),
  primary key (workspace_id, asset_id, version),
  foreign key (workspace_id, asset_id) references assets
);

create table asset_transfers (
  workspace_id  text collate "C" not null,
  id            text collate "C" not null,
  asset_id      text collate "C" not null,
  -- The version of its leaf.
  number        integer          not null check (number > 0),
  asset_version integer          not null,
  from_vault_id text collate "C" not null,
  to_vault_id   text collate "C" not null,
  completed_at  timestamptz,
  created_at    timestamptz      not null default now(),
  primary key (workspace_id, id),
  unique (workspace_id, asset_id, number),
  foreign key (workspace_id, asset_id) references assets,
  foreign key (workspace_id, from_vault_id) references vaults,
  foreign key (workspace_id, to_vault_id) references vaults,
  check (from_vault_id <> to_vault_id)
);
create unique index asset_transfers_under_way on asset_transfers (workspace_id, asset_id) where completed_at is null;

create table asset_installations (
  workspace_id    text collate "C" not null,
  asset_id        text collate "C" not null,
  -- Counts from 1 for each asset.
  number          integer          not null check (number > 0),
  parent_asset_id text collate "C" not null,
  installed_at    timestamptz      not null,
  removed_at      timestamptz check (removed_at >= installed_at),
  created_at      timestamptz      not null default now(),
  primary key (workspace_id, asset_id, number),
  foreign key (workspace_id, asset_id) references assets,
  foreign key (workspace_id, parent_asset_id) references assets,
  check (parent_asset_id <> asset_id)
);
-- It is in one place at a time.
create unique index asset_installations_today on asset_installations (workspace_id, asset_id) where removed_at is null;

-- Whom its owner lets see it. Addresses here and below are in lower case, as they are looked up.
create table asset_viewers (
  workspace_id text collate "C" not null,
  asset_id     text collate "C" not null,
  address      text collate "C" not null check (address ~ '^0x[0-9a-f]{40}$'),
  -- Null: without end. From this moment on it allows nothing.
  until        timestamptz,
  created_at   timestamptz      not null default now(),
  primary key (workspace_id, asset_id, address),
  foreign key (workspace_id, asset_id) references assets
);

-- Who is assigned to work on it, and may therefore see it.
create table asset_workers (
  workspace_id text collate "C" not null,
  asset_id     text collate "C" not null,
  -- Of the worker, which never changes.
  address      text collate "C" not null check (address ~ '^0x[0-9a-f]{40}$'),
  worker_id    text collate "C" not null,
  created_at   timestamptz      not null default now(),
  primary key (workspace_id, asset_id, address),
  foreign key (workspace_id, asset_id) references assets,
  foreign key (workspace_id, worker_id) references workers
);

-- Every look at it by a viewer, allowed or not. No reference: each would be checked row by row, for every look.
create table asset_access_log (
  workspace_id text collate "C" not null,
  asset_id     text collate "C" not null,
  id           bigint           generated always as identity,
  viewer       text             not null,
  -- What was asked for, and which one of several.
  what         text             not null,
  target_id    text,
  allowed      boolean          not null,
  -- Who asked for the viewer.
  actor_kind   text             not null,
  actor_id     text             not null,
  at           timestamptz      not null default now(),
  primary key (workspace_id, asset_id, id)
);

-- Work that comes round again: by days, hours or cycles since it was last done, whichever ends first.
create table asset_intervals (
  workspace_id text collate "C" not null,
  asset_id     text collate "C" not null,
  id           text collate "C" not null,
  name         text             not null default '',
  every_days   integer check (every_days > 0),
  every_hours  double precision check (every_hours > 0),
  every_cycles bigint check (every_cycles > 0),
  done_at      timestamptz      not null,
  done_hours   double precision check (done_hours >= 0),
  done_cycles  bigint check (done_cycles >= 0),
  created_at   timestamptz      not null default now(),
  updated_at   timestamptz      not null default now(),
  primary key (workspace_id, asset_id, id),
  foreign key (workspace_id, asset_id) references assets,
  check (num_nonnulls(every_days, every_hours, every_cycles) > 0),
  check (every_hours is null or done_hours is not null),
  check (every_cycles is null or done_cycles is not null)
);
