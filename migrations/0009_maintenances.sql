-- Maintenance entries of assets, and the sign-offs that workers put under them.

-- An entry is never changed: a correction is another one that supersedes it.
create table maintenances (
  workspace_id   text collate "C" not null,
  id             text collate "C" not null,
  asset_id       text collate "C" not null,
  -- The asset's owner when it was recorded, whose key seals it.
  vault_id       text collate "C" not null,
  -- Who did the work, with the name of that time.
  worker_id      text collate "C" not null,
  worker_address text             not null,
  worker_name    text             not null,
  type           text collate "C" not null,
  summary        text             not null,
  -- When the work was done; created_at is when it was recorded.
  performed_at   timestamptz      not null,
  supersedes     text collate "C",
  -- RFC 8785 form of the whole entry, with the hashes of its files: what the hash is made of.
  entry          text             not null,
  salt           bytea            not null check (length(salt) = 32),
  hash           bytea            not null check (length(hash) = 32),
  created_at     timestamptz      not null default now(),
  primary key (workspace_id, id),
  check (performed_at <= created_at)
);
create unique index maintenances_superseded_once on maintenances (workspace_id, supersedes)
  where supersedes is not null;
-- Lists go by the time of the work, and so do their pages; an entry's id is last, so that counting needs nothing else.
create index maintenances_by_asset on maintenances (workspace_id, asset_id, performed_at, id);
create index maintenances_by_type on maintenances (workspace_id, asset_id, type, performed_at, id);

create table signoffs (
  workspace_id   text collate "C" not null,
  maintenance_id text collate "C" not null,
  -- Counts from 1 in each entry, and is the version of its leaf.
  number         integer          not null check (number > 0),
  role           text             not null check (role in ('performed', 'inspected', 'certified')),
  worker_id      text collate "C" not null,
  -- RFC 8785 form of the sign-off with its licence and signature: what the hash is made of.
  document       text             not null,
  salt           bytea            not null check (length(salt) = 32),
  hash           bytea            not null check (length(hash) = 32),
  created_at     timestamptz      not null default now(),
  primary key (workspace_id, maintenance_id, number)
);
create unique index signoffs_once on signoffs (workspace_id, maintenance_id, role, worker_id);

-- Entries that close a deferred defect, or might: found without reading all the others.
create index maintenances_closing on maintenances (workspace_id, asset_id, id) where entry like '%"closes":%';
