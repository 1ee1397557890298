-- Who may use a key that the service holds: the person whom a worker is, in their own session, or an API key that may sign on
-- behalf of workers. And which roles need more than that.

-- The person whom this worker is.
alter table workers add column user_id text collate "C" references users on delete set null;
create index workers_by_person on workers (user_id, workspace_id) where user_id is not null;

create table signoff_rules (
  workspace_id text collate "C" not null primary key references workspaces,
  -- The roles in which only a passkey or a key of the worker's own counts.
  own_key      text[]           not null check (own_key <@ array['performed', 'inspected', 'certified']),
  updated_at   timestamptz      not null default now()
);
