-- compatible since: 0054_anchored_delays
-- Old records move into files in the blob store with all of their leaves. What stays here says where each record is, and has
-- the key that it is encrypted under: once that is gone, nothing in the file can be read any more.
create table archive_files (
  number       bigint           generated always as identity primary key,
  workspace_id text collate "C" not null,
  blob_id      text collate "C" not null,
  -- Of the blob, before it was encrypted.
  size         bigint           not null,
  -- Everything in it is older.
  before       timestamptz      not null,
  written_at   timestamptz      not null default now(),
  -- No record was left in it at this time. Null: not looked at since, or there was one.
  empty_since  timestamptz,
  unique (workspace_id, blob_id)
);

-- The records of one vault in a file.
create table archive_parts (
  number       bigint           generated always as identity primary key,
  file         bigint           not null references archive_files,
  workspace_id text collate "C" not null,
  vault_id     text collate "C" not null,
  -- Of the records that were written.
  first_id     text collate "C" not null,
  last_id      text collate "C" not null
);
create index archive_parts_of_vault on archive_parts (workspace_id, vault_id, number);
create index archive_parts_of_file on archive_parts (file);

-- A record is either here or in anchor_leaves, as a whole.
create table archived_records (
  -- When its newest version was made.
  newest_at  timestamptz      not null,
  part       bigint           not null references archive_parts,
  -- Where in the file, and how many bytes.
  at         integer          not null check (at >= 0),
  bytes      integer          not null check (bytes > 0),
  -- Of its data, which goes on counting as stored; 0 if all of it was erased before.
  data_bytes integer          not null check (data_bytes >= 0),
  id         text collate "C" not null,
  key        bytea            not null check (length(key) = 32),
  primary key (id)
);
create index archived_records_of_part on archived_records (part, id);
-- Statistics are samples of the values, and would keep keys that are gone.
alter table archived_records alter column key set statistics 0;

-- One bit for each leaf that is in a file: those whose ids have the same quotient share a row.
create table archived_leaves (
  block bigint   primary key,
  bits  bit(256) not null
);

-- A record that comes back from a file was counted, and its vault asked, when it was made.
create or replace trigger anchor_leaves_sealable after insert on anchor_leaves
  referencing new table as added for each statement
  when (current_setting('holdfast.brings_back', true) is distinct from 'on')
  execute function hold_sealing_vaults();
create or replace trigger anchor_leaves_within_budget after insert on anchor_leaves
  referencing new table as added for each statement
  when (current_setting('holdfast.brings_back', true) is distinct from 'on')
  execute function count_leaves();
