-- How long a vault keeps the data of records and the content of files.
create table retention_rules (
  workspace_id text collate "C" not null,
  vault_id     text collate "C" not null,
  kind         text             not null check (kind in ('record', 'file')),
  days         integer          not null check (days > 0),
  -- All records before this id are erased already, so that a round does not look at them again.
  begins_at    text collate "C" not null default '',
  -- The last id that the round under way has looked at, and the first one in it that must be looked at again.
  looked_at    text collate "C" not null default '',
  left_at      text collate "C",
  -- Null before the first round.
  next_round_at timestamptz,
  -- By this rule, in all.
  erased       bigint           not null default 0,
  erased_bytes bigint           not null default 0,
  primary key (workspace_id, vault_id, kind),
  foreign key (workspace_id, vault_id) references vaults (workspace_id, id)
);
