-- Files and assets change hands alike, so the transfers of both are in one table.
create table transfers (
  workspace_id    text collate "C" not null,
  id              text collate "C" not null,
  subject_kind    text             not null check (subject_kind in ('file', 'asset')),
  subject_id      text collate "C" not null,
  -- Counts from 1 for each file or asset: the version of the leaf.
  number          integer          not null check (number > 0),
  -- The newest one when the transfer was asked for; the leaf has its digest.
  subject_version integer          not null,
  from_vault_id   text collate "C" not null,
  to_vault_id     text collate "C" not null,
  -- Set with the first confirmation, which changes the owner; a reorg does not change it back.
  completed_at    timestamptz,
  created_at      timestamptz      not null default now(),
  primary key (workspace_id, id),
  unique (workspace_id, subject_id, number),
  foreign key (workspace_id, from_vault_id) references vaults,
  foreign key (workspace_id, to_vault_id) references vaults,
  check (from_vault_id <> to_vault_id)
);
create unique index transfers_under_way on transfers (workspace_id, subject_id) where completed_at is null;

insert into transfers
  select workspace_id, id, 'file', file_id, number, file_version, from_vault_id, to_vault_id, completed_at, created_at
  from file_transfers
  union all
  select workspace_id, id, 'asset', asset_id, number, asset_version, from_vault_id, to_vault_id, completed_at, created_at
  from asset_transfers;

drop table file_transfers;
drop table asset_transfers;
