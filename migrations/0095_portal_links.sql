-- compatible since: 0054_anchored_delays
-- Links by which somebody without an account looks at one webhook endpoint and its deliveries.
create table webhook_portal_links (
  workspace_id      text collate "C" not null,
  id                text collate "C" not null,
  endpoint_id       text collate "C" not null,
  token_hash        bytea            not null unique check (length(token_hash) = 32),
  description       text             not null,
  may_change_url    boolean          not null,
  may_manage_secret boolean          not null,
  created_at        timestamptz      not null,
  expires_at        timestamptz      not null check (expires_at > created_at),
  -- To the minute.
  last_used_at      timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, endpoint_id) references webhook_endpoints
);
create index webhook_portal_links_of_endpoint on webhook_portal_links (workspace_id, endpoint_id);
