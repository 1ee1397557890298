-- transaction: none
-- The corrections among the entries of an asset: a release is withdrawn until one is certified.
create index concurrently if not exists maintenances_corrections on maintenances (workspace_id, asset_id, id)
  where supersedes is not null;
