-- The data of a record can be erased: data, salt and claims go, the hashes that the proof needs stay.
alter table anchor_leaves
  add column erased_at timestamptz,
  add check (erased_at is null or (kind = 'record' and data is null and salt is null and claims is null));
-- Statistics are samples of the values, and would keep them when they are erased.
alter table anchor_leaves
  alter column data set statistics 0, alter column salt set statistics 0, alter column claims set statistics 0;
create or replace view records as
select workspace_id, subject_id as id, version, external_id, vault_id, data, salt, digest as data_hash, created_at,
       id as leaf_id, leaf, claims, erased_at
from anchor_leaves where kind = 'record';

create function give_back_data() returns trigger language plpgsql as $$
declare
  erased record;
begin
  for erased in
    select was.workspace_id, sum(octet_length(was.data)) as bytes
    from was join is_now on is_now.id = was.id
    where was.erased_at is null and is_now.erased_at is not null
    group by was.workspace_id order by was.workspace_id
  loop
    perform use_budget(erased.workspace_id, 'stored_bytes', 'epoch', -erased.bytes, false);
  end loop;
  return null;
end
$$;
create trigger anchor_leaves_given_back after update on anchor_leaves
  referencing old table as was new table as is_now for each statement execute function give_back_data();

-- Legal holds: nothing of what is held may be erased. A vault's hold covers all that it has.
create table holds (
  workspace_id text collate "C" not null references workspaces,
  -- Of a vault, a file or a record.
  subject_id   text collate "C" not null,
  reason       text             not null check (reason <> ''),
  placed_at    timestamptz      not null default now(),
  primary key (workspace_id, subject_id)
);

-- What was erased, without a word of its content. Copied into the blob store, from where a restore erases it again.
create table erasures (
  number       bigint           generated always as identity primary key,
  workspace_id text collate "C" not null references workspaces,
  kind         text             not null check (kind in ('record', 'file')),
  subject_id   text collate "C" not null,
  versions     integer[]        not null check (cardinality(versions) > 0),
  -- What was given back to the budget of the workspace: less than the size of a file whose bytes another file needs.
  bytes        bigint           not null,
  by_retention boolean          not null,
  erased_at    timestamptz      not null,
  journalled   boolean          not null default false
);
create index erasures_of_workspace on erasures (workspace_id, number);
create index erasures_to_journal on erasures (number) where not journalled;
