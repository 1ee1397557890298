-- In whose name a workspace releases work. Sign-offs as certified keep it as it was then.
create table organisations (
  workspace_id    text collate "C" not null primary key references workspaces,
  name            text             not null,
  address         text             not null,
  -- The authority that approved it, and its country.
  authority       text             not null,
  approval_number text             not null,
  -- What the approval is under, such as Part-145.
  regulation      text             not null,
  updated_at      timestamptz      not null default now()
);
