-- What sign-offs need by the type of work. The rules of an asset come before those of the workspace.
create table work_rules (
  workspace_id text collate "C" not null references workspaces,
  -- Empty: of the workspace.
  asset_id     text collate "C" not null,
  -- In lower case; '*' for every type that has no rule of its own.
  type         text collate "C" not null,
  scope        text             not null,
  categories   text[]           not null,
  -- Somebody inspects who neither performed nor certifies.
  critical     boolean          not null,
  primary key (workspace_id, asset_id, type)
);
