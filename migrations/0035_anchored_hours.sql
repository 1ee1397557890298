-- What was anchored of each workspace, by the hour of its confirmation: a month of the overview adds up 720 rows, not all
-- batches of the month.
create table anchored_hours (
  workspace_id text collate "C" not null,
  hour         timestamptz      not null check (hour = date_trunc('hour', hour, 'UTC')),
  leaves       bigint           not null,
  -- The subtrees in the order of batches and places, 12 bytes for each: the batch, and the place of its first leaf.
  subtrees     bytea            not null check (length(subtrees) % 12 = 0),
  primary key (workspace_id, hour)
);
-- Single ones are read from the middle.
alter table anchored_hours alter column subtrees set storage external;

-- The hours before this one were counted, for all workspaces. Who takes a confirmation back sets it back.
create table anchored_hours_counted (
  is_only boolean     primary key default true check (is_only),
  until   timestamptz not null
);

-- The subtrees of a workspace, without those of others.
create index anchor_subtrees_of_workspace on anchor_subtrees (workspace_id, batch_id, first_place);
