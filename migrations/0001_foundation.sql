-- Tenants, who may act for them, what they keep secret, and the trail of what was done.
-- Ids sort by time; collate "C" makes that order the same on every server.

create table workspaces (
  id         text collate "C" primary key,
  name       text        not null,
  slug       text        not null unique,
  metadata   jsonb       not null default '{}',
  created_at timestamptz not null default now()
);

create table api_keys (
  workspace_id text collate "C" not null references workspaces,
  id           text collate "C" not null,
  name         text             not null,
  -- The first characters of the key, so that a person can tell keys apart.
  hint         text             not null,
  secret_hash  bytea            not null unique check (length(secret_hash) = 32),
  -- Empty: every scope.
  scopes       text[]           not null default '{}',
  expires_at   timestamptz,
  last_used_at timestamptz,
  revoked_at   timestamptz,
  created_at   timestamptz      not null default now(),
  primary key (workspace_id, id)
);

-- The master keys that wrap something at present. The key itself never comes here: `check_value` only tells
-- whether the one that was configured is the right one. A version is retired by deleting its row, which the
-- foreign key of `secrets` refuses as long as anything is still wrapped with it.
create table master_keys (
  version     integer     primary key check (version > 0),
  check_value bytea       not null,
  created_at  timestamptz not null default now()
);

-- Everything sealed: private keys, signing secrets, answers that hold one. workspace_id has no foreign key,
-- because the service's own secrets belong to no workspace and carry 'system' there.
create table secrets (
  workspace_id     text collate "C" not null,
  purpose          text             not null,
  id               text collate "C" not null,
  master_version   integer          not null references master_keys,
  wrapped_data_key bytea            not null,
  ciphertext       bytea            not null,
  created_at       timestamptz      not null default now(),
  primary key (workspace_id, purpose, id)
);

create table vaults (
  workspace_id text collate "C" not null references workspaces,
  id           text collate "C" not null,
  name         text             not null,
  description  text             not null default '',
  -- EIP-55 form; looked up by its lower-case form.
  address      text collate "C" not null,
  status       text             not null default 'active' check (status in ('active', 'inactive')),
  created_at   timestamptz      not null default now(),
  updated_at   timestamptz      not null default now(),
  primary key (workspace_id, id)
);
create unique index vaults_by_address on vaults (workspace_id, lower(address));

create table workers (
  workspace_id text collate "C" not null references workspaces,
  id           text collate "C" not null,
  name         text             not null,
  address      text collate "C" not null,
  -- Who holds the private key: the service, or the worker.
  key_holder   text             not null check (key_holder in ('service', 'worker')),
  licences     jsonb            not null default '[]',
  created_at   timestamptz      not null default now(),
  updated_at   timestamptz      not null default now(),
  primary key (workspace_id, id)
);
create unique index workers_by_address on workers (workspace_id, lower(address));

-- The outbox. `envelope` is the exact text that is signed, sent and served. `position` is given afterwards by
-- one loop at a time, so that no late commit can slip behind a reader of the feed.
create table events (
  workspace_id text collate "C" not null references workspaces,
  id           text collate "C" not null,
  type         text             not null,
  envelope     text             not null,
  created_at   timestamptz      not null default now(),
  position     bigint           unique,
  primary key (workspace_id, id)
);
create index events_in_order on events (workspace_id, position) where position is not null;
create index events_without_position on events (id) where position is null;

-- No foreign key: what was done stays on record whatever becomes of the workspace.
create table audit_entries (
  workspace_id  text collate "C" not null,
  id            text collate "C" not null,
  at            timestamptz      not null,
  actor_kind    text             not null,
  actor_id      text             not null,
  action        text             not null,
  target_id     text             not null,
  request_id    text,
  details       jsonb            not null default '{}',
  -- SHA-256 of the entry itself.
  digest        bytea            not null,
  -- Given once by the loop that chains a workspace's entries.
  sequence      bigint,
  hash          bytea,
  primary key (workspace_id, id),
  check ((sequence is null) = (hash is null))
);
create unique index audit_entries_in_order on audit_entries (workspace_id, sequence) where sequence is not null;
create index audit_entries_unchained on audit_entries (id) where sequence is null;
create index audit_entries_by_target on audit_entries (workspace_id, target_id, id);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit_entries is append-only';
end
$$;
-- The one update that passes gives an entry its place in the chain, once, and touches nothing else.
create trigger audit_entries_no_update before update on audit_entries for each row
  when (
    old.sequence is not null
    or (old.workspace_id, old.id, old.at, old.actor_kind, old.actor_id, old.action, old.target_id, old.request_id, old.details, old.digest)
      is distinct from
       (new.workspace_id, new.id, new.at, new.actor_kind, new.actor_id, new.action, new.target_id, new.request_id, new.details, new.digest)
  )
  execute function refuse_audit_change();
create trigger audit_entries_no_delete before delete on audit_entries
  for each row execute function refuse_audit_change();
create trigger audit_entries_no_truncate before truncate on audit_entries
  for each statement execute function refuse_audit_change();

-- The answers of requests that carried an Idempotency-Key, each committed with the work it answers for.
create table idempotent_answers (
  workspace_id text collate "C" not null,
  method       text             not null,
  path         text             not null,
  key          text             not null,
  fingerprint  bytea            not null,
  status       integer          not null,
  -- null: the answer holds a secret and lies sealed in `secrets` under this fingerprint.
  body         text,
  created_at   timestamptz      not null default now(),
  primary key (workspace_id, method, path, key)
);
create index idempotent_answers_by_age on idempotent_answers (created_at);
