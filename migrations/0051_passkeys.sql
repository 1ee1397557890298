-- Passkeys of workers: invited by a link, registered on the worker's device, confirmed by a second person, and revoked.

alter table workers drop constraint workers_key_holder_check;
alter table workers add constraint workers_key_holder_check check (key_holder in ('service', 'worker', 'passkey'));

-- A link for one worker, for one registration.
create table worker_invitations (
  workspace_id text collate "C" not null,
  id           text collate "C" not null,
  worker_id    text collate "C" not null,
  token_hash   bytea            not null unique check (length(token_hash) = 32),
  -- What the passkey signs while it is made.
  challenge    bytea            not null check (length(challenge) = 32),
  invited_by   jsonb            not null,
  expires_at   timestamptz      not null,
  used_at      timestamptz,
  created_at   timestamptz      not null default now(),
  primary key (workspace_id, id),
  foreign key (workspace_id, worker_id) references workers
);
create index worker_invitations_by_worker on worker_invitations (workspace_id, worker_id);

create table worker_passkeys (
  workspace_id  text collate "C" not null,
  id            text collate "C" not null,
  worker_id     text collate "C" not null,
  state         text             not null check (state in ('unconfirmed', 'active', 'refused', 'revoked')),
  credential_id bytea            not null,
  -- A SubjectPublicKeyInfo.
  public_key    bytea            not null,
  rp_id         text             not null,
  -- The highest one seen; always 0 in passkeys that do not count.
  counter       bigint           not null check (counter >= 0),
  -- How it was made: the rest of the document that will be anchored.
  made          jsonb            not null,
  -- The number of the statement that registered it, and its hash; null until it is confirmed.
  number        integer,
  hash          bytea,
  created_at    timestamptz      not null default now(),
  primary key (workspace_id, id),
  foreign key (workspace_id, worker_id) references workers,
  check ((state in ('active', 'revoked')) = (number is not null and hash is not null))
);
create index worker_passkeys_by_worker on worker_passkeys (workspace_id, worker_id, id);
create unique index worker_passkeys_once on worker_passkeys (workspace_id, credential_id) where state <> 'refused';

-- What was anchored of them: that a passkey is the worker's, or no longer.
create table passkey_statements (
  workspace_id text collate "C" not null,
  worker_id    text collate "C" not null,
  -- Counts from 1 for each worker, and is the version of its leaf.
  number       integer          not null check (number > 0),
  vault_id     text collate "C" not null,
  passkey_id   text collate "C" not null,
  -- RFC 8785 form.
  document     text             not null,
  salt         bytea            not null check (length(salt) = 32),
  hash         bytea            not null check (length(hash) = 32),
  created_at   timestamptz      not null default now(),
  primary key (workspace_id, worker_id, number)
);
