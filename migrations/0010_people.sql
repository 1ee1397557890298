-- People: who signs in, with what, from where, and in which workspaces they may act as what.
-- The first five tables are read and written by the sign-in library.

create table users (
  id                 text collate "C" primary key,
  name               text        not null,
  email              text        not null unique check (email = lower(email)),
  email_verified     boolean     not null default false,
  image              text,
  two_factor_enabled boolean     not null default false,
  created_at         timestamptz not null default now(),
  updated_at         timestamptz not null default now()
);

create table sessions (
  id           text collate "C" primary key,
  user_id      text collate "C" not null references users on delete cascade,
  token        text             not null unique,
  expires_at   timestamptz      not null,
  ip_address   text,
  user_agent   text,
  created_at   timestamptz      not null default now(),
  updated_at   timestamptz      not null default now()
);
create index sessions_by_user on sessions (user_id);
create index sessions_by_expiry on sessions (expires_at);

-- How somebody signs in; with a password there is one, and it holds the hash.
create table accounts (
  id                       text collate "C" primary key,
  user_id                  text collate "C" not null references users on delete cascade,
  account_id               text             not null,
  provider_id              text             not null,
  password                 text,
  access_token             text,
  refresh_token            text,
  id_token                 text,
  access_token_expires_at  timestamptz,
  refresh_token_expires_at timestamptz,
  scope                    text,
  created_at               timestamptz      not null default now(),
  updated_at               timestamptz      not null default now()
);
create index accounts_by_user on accounts (user_id);

-- Steps of a sign-in that is not finished.
create table verifications (
  id         text collate "C" primary key,
  identifier text        not null,
  value      text        not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index verifications_by_identifier on verifications (identifier);

create table two_factors (
  id                        text collate "C" primary key,
  user_id                   text collate "C" not null references users on delete cascade,
  -- Both encrypted.
  secret                    text             not null,
  backup_codes              text             not null,
  verified                  boolean          not null default true,
  failed_verification_count integer          not null default 0,
  locked_until              timestamptz
);
create index two_factors_by_user on two_factors (user_id);

-- Failed sign-ins of late, by account and by address: each makes the next wait longer.
create table sign_in_failures (
  who        text collate "C" primary key,
  failures   integer     not null check (failures > 0),
  last_at    timestamptz not null,
  until      timestamptz not null
);
create index sign_in_failures_by_time on sign_in_failures (last_at);

create table members (
  workspace_id text collate "C" not null references workspaces,
  user_id      text collate "C" not null references users on delete cascade,
  role         text             not null check (role in ('owner', 'admin', 'developer', 'viewer')),
  created_at   timestamptz      not null default now(),
  primary key (workspace_id, user_id)
);
create index members_by_user on members (user_id);

-- A link that makes somebody a member, once. The first owner comes by such a link too, without an email.
create table invitations (
  workspace_id text collate "C" not null references workspaces,
  id           text collate "C" not null,
  -- Null: whoever has the link.
  email        text,
  role         text             not null check (role in ('owner', 'admin', 'developer', 'viewer')),
  -- SHA-256 of the secret in the link.
  token_hash   bytea            not null unique check (length(token_hash) = 32),
  -- Null: made by the service itself.
  invited_by   text collate "C" references users on delete set null,
  expires_at   timestamptz      not null,
  accepted_at  timestamptz,
  revoked_at   timestamptz,
  created_at   timestamptz      not null default now(),
  primary key (workspace_id, id)
);
