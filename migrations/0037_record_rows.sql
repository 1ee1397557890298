-- A record's version and its leaf are one row: they are made in one commit, never without each other, and had half of their
-- columns in common. The newest version is the one with the highest number, so that none is marked and then updated.
alter table anchor_leaves
  add column external_id text,
  -- RFC 8785 form of the data.
  add column data text,
  add column salt bytea check (length(salt) = 32);
update anchor_leaves l
set external_id = r.external_id, data = r.data, salt = r.salt, created_at = r.created_at
from records r
where l.kind = 'record' and l.workspace_id = r.workspace_id and l.subject_id = r.id and l.version = r.version;
alter table anchor_leaves
  add check (kind = 'record' or (external_id is null and data is null and salt is null));
drop table records;

create view records as
select workspace_id, subject_id as id, version, external_id, vault_id, data, salt, digest as data_hash, created_at,
       id as leaf_id, leaf
from anchor_leaves where kind = 'record';
-- Lists go through first versions, which each record has once.
create index records_by_vault on anchor_leaves (workspace_id, vault_id, subject_id) where kind = 'record' and version = 1;
create index records_by_external_id on anchor_leaves (workspace_id, external_id, subject_id)
  where kind = 'record' and version = 1 and external_id is not null;
