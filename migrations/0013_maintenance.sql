-- What entries state of the usage of an asset; types of work compared without case; intervals by months, completed
-- through an entry; and what is sealed is sealed by an active vault that owns the asset when it is committed.

-- The usage of an asset is the highest of what was stated with the asset itself and what entries state that were not
-- superseded. It used to be one number that could only rise, so that a slip of the pen stayed for good.
alter table maintenances
  add column usage_hours double precision check (usage_hours >= 0),
  add column usage_cycles bigint check (usage_cycles >= 0);
update maintenances
set usage_hours = (entry::jsonb #>> '{data,usage,hours}')::double precision,
    usage_cycles = (entry::jsonb #>> '{data,usage,cycles}')::numeric::bigint
where entry like '%"usage":%' and jsonb_typeof(entry::jsonb #> '{data,usage}') = 'object';
create index maintenances_by_hours on maintenances (workspace_id, asset_id, usage_hours) where usage_hours is not null;
create index maintenances_by_cycles on maintenances (workspace_id, asset_id, usage_cycles) where usage_cycles is not null;

-- What an asset answers stays: where neither its document nor an entry that stands explains it, it counts as stated.
with explained as (
  select a.workspace_id, a.asset_id,
    coalesce((v.document::jsonb #>> '{usage,hours}')::double precision, 0) as hours,
    coalesce((v.document::jsonb #>> '{usage,cycles}')::numeric::bigint, 0) as cycles,
    most.hours as entry_hours, most.cycles as entry_cycles
  from assets a
  join asset_versions v on v.workspace_id = a.workspace_id and v.asset_id = a.asset_id and v.version = a.version
  cross join lateral (
    select max(m.usage_hours) as hours, max(m.usage_cycles) as cycles from maintenances m
    where m.workspace_id = a.workspace_id and m.asset_id = a.asset_id
      and not exists (select 1 from maintenances s where s.workspace_id = m.workspace_id and s.supersedes = m.id)
  ) as most
)
update assets a
set usage_hours = case when greatest(e.hours, e.entry_hours) >= a.usage_hours then e.hours else a.usage_hours end,
    usage_cycles = case when greatest(e.cycles, e.entry_cycles) >= a.usage_cycles then e.cycles else a.usage_cycles end
from explained e
where e.workspace_id = a.workspace_id and e.asset_id = a.asset_id;
comment on column assets.usage_hours is 'As stated with the asset; entries may state more.';
comment on column assets.usage_cycles is 'As stated with the asset; entries may state more.';

-- In the order of bytes, so that no other version of a collation can make the index wrong.
drop index maintenances_by_type;
create index maintenances_by_type on maintenances
  (workspace_id, asset_id, (lower(btrim(type) collate "default") collate "C"), performed_at, id);

-- Whoever seals something is looked up before, and may be deactivated, or give the asset away, until the commit. So the
-- commit itself holds the vaults and assets, and refuses. A thing that is on its way to another vault is sealed by the
-- giver, active or not; validations and the audit log are sealed whatever the state of the vault.
create function hold_sealing_vaults() returns trigger language plpgsql as $$
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
    where kind in ('record', 'file', 'asset', 'maintenance', 'signoff')
  ) as sealed
  join vaults v on v.workspace_id = sealed.workspace_id and v.id = sealed.vault_id
  order by v.workspace_id, v.id for share of v;
  select v.address into refused
  from (
    select distinct workspace_id, vault_id from added
    where kind in ('record', 'file', 'asset', 'maintenance', 'signoff')
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
create trigger anchor_leaves_sealable after insert on anchor_leaves
  referencing new table as added for each statement execute function hold_sealing_vaults();

-- Intervals by calendar months; and the entry that they were last completed through, null for what was stated at first.
alter table asset_intervals
  add column every_months integer check (every_months > 0),
  add column completed_by text collate "C",
  drop constraint asset_intervals_check,
  add constraint asset_intervals_every check (num_nonnulls(every_days, every_months, every_hours, every_cycles) > 0);
create index asset_intervals_completed on asset_intervals (workspace_id, completed_by) where completed_by is not null;

-- What is or was installed in an asset.
create index asset_installations_by_parent on asset_installations (workspace_id, parent_asset_id, installed_at, asset_id);
