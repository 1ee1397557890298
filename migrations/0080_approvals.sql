-- Steps that need a second person. A node that does not know this table would take them at once, so none may run beside it.

alter table api_keys
  -- The person behind the key: who made it, or made the key that made it. Null: the command line, or nobody that is known.
  add column made_by text collate "C";
with recursive made as (
  select k.workspace_id, k.id, a.actor_kind, a.actor_id
  from api_keys k
  join audit_entries a on a.target_id = k.id and a.workspace_id = k.workspace_id and a.action = 'api_key.create'
  union
  select m.workspace_id, m.id, a.actor_kind, a.actor_id
  from made m
  join audit_entries a on a.target_id = m.actor_id and a.workspace_id = m.workspace_id and a.action = 'api_key.create'
  where m.actor_kind = 'api_key'
)
update api_keys k set made_by = made.actor_id
from made where made.workspace_id = k.workspace_id and made.id = k.id and made.actor_kind = 'user';

-- Which steps need a second person; without a row, none.
create table approval_rules (
  workspace_id        text collate "C" primary key references workspaces,
  erase_content       boolean not null default false,
  transfer            boolean not null default false,
  wide_keys           boolean not null default false,
  expires_after_hours integer not null default 72 check (expires_after_hours between 1 and 720)
);

create table approvals (
  workspace_id     text collate "C" not null references workspaces,
  id               text collate "C" not null,
  step             text             not null,
  -- What the step is about; null: a new API key.
  subject_id       text,
  input            jsonb            not null,
  -- What the step would have done when it was asked for. It is done only if it still does exactly that.
  effect           jsonb            not null,
  -- The role that the second person needs.
  role             text             not null check (role in ('owner', 'admin', 'developer')),
  -- Of who asked, the step and the input: asked again while it is open, it is the same request.
  digest           bytea            not null check (length(digest) = 32),
  requested_kind   text             not null check (requested_kind in ('user', 'api_key')),
  requested_by     text collate "C" not null,
  -- The person who asked, or who is behind the key that asked; null: nobody that is known.
  requested_person text collate "C",
  requested_at     timestamptz      not null,
  -- From this moment on it can no longer be approved.
  expires_at       timestamptz      not null,
  status           text             not null default 'open'
    check (status in ('open', 'approved', 'refused', 'withdrawn', 'expired')),
  -- The person who decided; null when it expired. It is withdrawn by who asked.
  decided_kind     text,
  decided_by       text collate "C",
  decided_at       timestamptz,
  reason           text,
  -- What the step answered, without a secret; and whether its secret is still to be collected.
  result           jsonb,
  has_secret       boolean          not null default false,
  primary key (workspace_id, id),
  check (expires_at > requested_at),
  check ((status = 'open') = (decided_at is null)),
  check ((status in ('open', 'expired')) = (decided_by is null)),
  check ((status = 'approved') = (result is not null)),
  check (not has_secret or status = 'approved'),
  check (status not in ('approved', 'refused') or decided_by is distinct from requested_person)
);
create unique index approvals_asked_once on approvals (workspace_id, digest) where status = 'open';
create index approvals_by_status on approvals (workspace_id, status, id);
create index approvals_to_expire on approvals (expires_at) where status = 'open';
create index approvals_decided on approvals (decided_at) where decided_at is not null;
