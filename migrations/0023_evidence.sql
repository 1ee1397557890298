-- The final proof format: seals are part of what is anchored, and the leaf binds how its digest was made.

-- The epoch of the numbers of seals; see anchoring/batching/seal-epoch.ts.
create table seal_epoch (
  singleton boolean primary key default true check (singleton),
  epoch     bigint  not null check (epoch between 0 and 4294967295)
);
insert into seal_epoch (epoch) values (0);

alter table anchor_leaves
  add column canonicalization text check (canonicalization in ('raw', 'jcs', 'hmac-sha256')),
  -- When it was first anchored, in a format that is void by now: a statement of this installation, no evidence.
  add column first_anchored_time bigint,
  -- Its first confirmation was announced; the next one is not.
  add column announced_before boolean not null default false;

-- Batches of the old format are void. Their leaves are hashed anew when the service starts (anchoring/leaf-renewal.ts), and
-- anchored again; who was told of a confirmation is not told again.
update anchor_leaves l set
  canonicalization = coalesce(
    case
      when l.kind = 'audit-log' then 'raw'
      when l.kind = 'file' then (
        select v.canonicalization from file_versions v
        where v.workspace_id = l.workspace_id and v.file_id = l.subject_id and v.version = l.version)
      when l.kind = 'transfer' then (
        select v.canonicalization from transfers t
        join file_versions v
          on v.workspace_id = t.workspace_id and v.file_id = t.subject_id and v.version = t.subject_version
        where t.workspace_id = l.workspace_id and t.subject_id = l.subject_id and t.number = l.version
          and t.subject_kind = 'file')
      when l.kind = 'validation' then (
        select v.canonicalization from file_validations w
        join file_versions v
          on v.workspace_id = w.workspace_id and v.file_id = w.file_id and v.version = w.file_version
        where w.workspace_id = l.workspace_id and w.file_id = l.subject_id and w.number = l.version)
    end, 'jcs'),
  -- An aggregate, because it has a row for leaves without a confirmed batch too.
  (first_anchored_time, announced_before) = (
    select max(b.block_time), coalesce(bool_or(l.place < b.announced), false) from anchor_batches b
    where b.id = l.batch_id and b.status in ('confirmed', 'finalized')),
  batch_id = null,
  place = null;
alter table anchor_leaves alter column canonicalization set not null;

-- How far leaves were hashed anew; without a row there is nothing to do. Then the old hash of each, for those that follow it.
create table leaf_renewal (
  singleton boolean primary key default true check (singleton),
  last_id   bigint  not null
);
insert into leaf_renewal (last_id) select 0 where exists (select from anchor_leaves);
create table renewed_leaves (
  old_leaf bytea primary key,
  leaf     bytea not null
);

delete from anchor_subtrees;
delete from anchor_batches;

alter table anchor_subtrees
  -- A uint64, of which the epoch is the high half.
  alter column sequence type numeric(20),
  add column previous_seal bytea not null check (length(previous_seal) = 32),
  -- What the tree has beside the root of the vault.
  add column seal_id bytea not null check (length(seal_id) = 32);

alter table anchor_batches
  -- Root of the evidence that the head of the batch covers, and the path from the head to the root of the batch.
  add column evidence_root bytea not null check (length(evidence_root) = 32),
  add column head_path bytea not null;
