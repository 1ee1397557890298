-- Files: their versions, transfers and validations, and the blobs that hold their bytes.

-- Bytes as they are stored, encrypted under a data key of their own, which lies in `secrets`. Named at random: the hash of
-- a guessable file would tell its content to whoever runs the store.
create table blobs (
  workspace_id text collate "C" not null,
  id           text collate "C" not null,
  vault_id     text collate "C" not null,
  -- SHA-256 of the bytes before they were encrypted.
  content_hash bytea            not null check (length(content_hash) = 32),
  size         bigint           not null check (size >= 0),
  -- Since then the data key is gone, and with it the content.
  erased_at    timestamptz,
  created_at   timestamptz      not null default now(),
  primary key (workspace_id, id)
);
-- Equal bytes are stored once within a vault.
create unique index blobs_by_content on blobs (workspace_id, vault_id, content_hash) where erased_at is null;

create table files (
  workspace_id text collate "C" not null,
  id           text collate "C" not null,
  -- Who owns it today.
  vault_id     text collate "C" not null,
  -- The newest one.
  version      integer          not null check (version > 0),
  -- The newest of the leaves of its versions and transfers, which follow each other.
  last_leaf    bytea            not null check (length(last_leaf) = 32),
  -- Under way: until it is confirmed there is no other one, and no new version.
  transfer_id  text,
  created_at   timestamptz      not null default now(),
  primary key (workspace_id, id)
);
create index files_by_vault on files (workspace_id, vault_id, id);

create table file_versions (
  workspace_id     text collate "C" not null,
  file_id          text collate "C" not null,
  version          integer          not null check (version > 0),
  -- Who owned it then, and sealed it.
  vault_id         text collate "C" not null,
  name             text collate "C" not null,
  media_type       text             not null,
  -- Null where only the hash is known.
  size             bigint check (size >= 0),
  canonicalization text             not null check (canonicalization in ('raw', 'hmac-sha256')),
  content_hash     bytea            not null check (length(content_hash) = 32),
  -- Null where only the hash was given.
  blob_id          text collate "C",
  -- Since then its content is not given out; others may still have the same blob.
  erased_at        timestamptz,
  -- As it was given, and the moment that is meant.
  expiration_date  text,
  expires_at       timestamptz,
  -- The newest version; lists show these.
  current          boolean          not null default true,
  created_at       timestamptz      not null default now(),
  primary key (workspace_id, file_id, version),
  check ((expiration_date is null) = (expires_at is null)),
  check (blob_id is null or (size is not null and canonicalization = 'raw')),
  check (erased_at is null or blob_id is not null)
);
create index file_versions_by_blob on file_versions (workspace_id, blob_id) where blob_id is not null;
create index file_versions_by_name on file_versions (workspace_id, name, file_id) where current;

create table file_transfers (
  workspace_id  text collate "C" not null,
  id            text collate "C" not null,
  file_id       text collate "C" not null,
  -- Counts from 1 for each file: the version of its leaf.
  number        integer          not null check (number > 0),
  -- The newest version when it was asked for.
  file_version  integer          not null,
  from_vault_id text collate "C" not null,
  to_vault_id   text collate "C" not null,
  -- Set with the first confirmation, which moves the file; a reorg does not move it back.
  completed_at  timestamptz,
  created_at    timestamptz      not null default now(),
  primary key (workspace_id, id),
  unique (workspace_id, file_id, number)
);

create table file_validations (
  workspace_id   text collate "C" not null,
  id             text collate "C" not null,
  file_id        text collate "C" not null,
  -- Counts from 1 for each file: the version of its leaf. Null until it is completed.
  number         integer check (number > 0),
  file_version   integer          not null,
  presented_hash bytea            not null check (length(presented_hash) = 32),
  -- Whose it is said to be; null: of whoever has it when it is judged.
  vault_id       text collate "C",
  result         text check (result in ('valid', 'invalid')),
  integrity      boolean,
  authenticity   boolean,
  ownership      boolean,
  validated_at   timestamptz,
  created_at     timestamptz      not null default now(),
  primary key (workspace_id, id),
  unique (workspace_id, file_id, number),
  check ((result is null) = (number is null) and (result is null) = (validated_at is null)
    and (result is null) = (integrity is null) and (result is null) = (authenticity is null)
    and (result is null) = (ownership is null))
);
create index file_validations_by_file on file_validations (workspace_id, file_id, id);
create index file_validations_open on file_validations (id) where result is null;
