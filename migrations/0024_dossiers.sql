-- Dossiers that cannot be thinned out: the entries of an asset are numbered and chained, and every export is sealed.

-- Counts from 1 for each asset without a gap, in the order in which entries were committed. The claims of an entry's leaf have
-- this number and the leaf of the entry before, so that an entry that is missing from a dossier shows.
alter table maintenances add column number integer check (number > 0);
update maintenances m set number = numbered.number
from (
  select e.workspace_id, e.id, row_number() over (
    partition by e.workspace_id, e.asset_id order by l.id nulls last, e.created_at, e.id
  ) as number
  from maintenances e
  left join anchor_leaves l
    on l.workspace_id = e.workspace_id and l.subject_id = e.id and l.kind = 'maintenance' and l.version = 1
) as numbered
where m.workspace_id = numbered.workspace_id and m.id = numbered.id;
alter table maintenances alter column number set not null;
create unique index maintenances_numbered on maintenances (workspace_id, asset_id, number);

-- Each export of an asset: what dossier.json hashes to, which is what its leaf proves. The archive itself is not kept.
create table dossiers (
  workspace_id text collate "C" not null,
  id           text collate "C" not null,
  asset_id     text collate "C" not null,
  -- The asset's owner when the export began, whose key seals it.
  vault_id     text collate "C" not null,
  -- How many entries are in it: those with the numbers up to this one.
  entries      integer          not null check (entries >= 0),
  -- SHA-256 of the bytes of dossier.json.
  digest       bytea            not null check (length(digest) = 32),
  created_at   timestamptz      not null default now(),
  primary key (workspace_id, id)
);

-- A dossier states what is there and adds nothing, so a deactivated vault still seals one, and the owner of the time when the
-- export began does, even if the asset changed hands since.
create or replace function hold_sealing_vaults() returns trigger language plpgsql as $$
declare
  refused text;
begin
  -- Assets before vaults, and each in one order, as everywhere: so no two commits wait for each other.
  if exists (select 1 from added where kind in ('maintenance', 'signoff')) then
    perform 1 from (
      select distinct workspace_id, claims::jsonb ->> 'assetId' as asset_id from added
      where kind in ('maintenance', 'signoff')
    ) as sealed
    join assets a on a.workspace_id = sealed.workspace_id and a.asset_id = sealed.asset_id
    order by a.workspace_id, a.asset_id for share of a;
    -- A statement of its own, which sees what was committed during the wait.
    select a.asset_id into refused
    from added l
    join assets a on a.workspace_id = l.workspace_id and a.asset_id = l.claims::jsonb ->> 'assetId'
    where l.kind in ('maintenance', 'signoff') and a.vault_id <> l.vault_id limit 1;
    if found then
      raise exception 'the asset % has another owner by now', refused
        using errcode = 'check_violation', constraint = 'sealed_by_owner', detail = refused;
    end if;
  end if;
  perform 1 from (
    select distinct workspace_id, vault_id from added
    where kind not in ('transfer', 'validation', 'audit-log', 'dossier')
  ) as sealed
  join vaults v on v.workspace_id = sealed.workspace_id and v.id = sealed.vault_id
  order by v.workspace_id, v.id for share of v;
  select v.address into refused
  from (
    select distinct workspace_id, vault_id from added
    where kind not in ('transfer', 'validation', 'audit-log', 'dossier')
  ) as sealed
  join vaults v on v.workspace_id = sealed.workspace_id and v.id = sealed.vault_id
  where v.status <> 'active' limit 1;
  if found then
    raise exception 'the vault % is deactivated', refused
      using errcode = 'check_violation', constraint = 'sealed_by_active_vault', detail = refused;
  end if;
  return null;
end
$$;
