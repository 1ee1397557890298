-- How people prove who they are: passkeys, an identity provider, and proofs repeated within a session.

alter table sessions
  add column signed_in_by  text        not null default 'password'
    check (signed_in_by in ('password', 'code', 'backup code', 'passkey', 'provider')),
  -- A code or passkey was used in this session, or the identity provider vouches for the sign-in.
  add column second_factor boolean     not null default false,
  -- When the person last proved who they are.
  add column confirmed_at  timestamptz not null default now();

-- Only sessions with a second factor may act in the workspace.
alter table workspaces add column require_second_factor boolean not null default false;

-- Passkeys of people who sign in. Those with which workers sign entries off are not here.
create table passkeys (
  id            text collate "C" primary key,
  user_id       text collate "C" not null references users on delete cascade,
  name          text             not null,
  credential_id bytea            not null unique,
  public_key    bytea            not null,
  counter       bigint           not null check (counter >= 0),
  transports    text[]           not null,
  created_at    timestamptz      not null default now(),
  last_used_at  timestamptz
);
create index passkeys_by_user on passkeys (user_id);

-- What the identity provider calls a person.
create table identities (
  issuer     text             not null,
  subject    text             not null,
  user_id    text collate "C" not null references users on delete cascade,
  created_at timestamptz      not null default now(),
  primary key (issuer, subject)
);
create unique index identities_by_user on identities (user_id, issuer);

-- Sessions that last as long as the identity provider vouches for the person.
create table provider_sessions (
  session_id text collate "C" primary key references sessions on delete cascade,
  issuer     text        not null,
  subject    text        not null,
  -- The tokens of the session, sealed.
  tokens     bytea       not null,
  -- When the provider last vouched for the person.
  checked_at timestamptz not null default now(),
  -- When a node last began to ask; it has a few seconds for that.
  tried_at   timestamptz not null default now(),
  -- Since when it does not answer; null: it did the last time.
  away_since timestamptz
);
