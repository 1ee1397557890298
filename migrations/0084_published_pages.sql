-- Pages of assets for everyone who has the link. A page shows what its owner chose, until a moment, and ends when the asset
-- changes hands.
-- compatible since: 0054_anchored_delays
create table published_pages (
  workspace_id text collate "C" not null,
  asset_id     text             not null,
  id           text collate "C" not null,
  -- The owner who published it.
  vault_id     text collate "C" not null,
  token_hash   bytea            not null unique check (length(token_hash) = 32),
  -- A GS1 Digital Link, such as 01/09506000134352/21/A17: whoever knows the numbers finds the page.
  digital_link text collate "C" unique,
  choices      jsonb            not null,
  -- Encrypts the ids of entries in addresses: an id tells when its entry was recorded.
  entry_key    bytea            not null check (length(entry_key) = 32),
  until        timestamptz      not null,
  created_at   timestamptz      not null default now(),
  primary key (workspace_id, id),
  foreign key (workspace_id, asset_id) references assets
);
create index published_pages_by_asset on published_pages (workspace_id, asset_id, id);
