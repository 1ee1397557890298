-- What is stated with an asset itself about its usage, and when: while it is installed in another asset, it runs as that one does.
create table stated_usages (
  workspace_id text collate "C"  not null,
  asset_id     text collate "C"  not null,
  -- Of the asset, which states it first.
  version      integer           not null,
  -- Null: from the beginning, when the asset was created.
  stated_at    timestamptz,
  hours        double precision  not null,
  cycles       bigint            not null,
  primary key (workspace_id, asset_id, version),
  foreign key (workspace_id, asset_id) references assets
);

insert into stated_usages (workspace_id, asset_id, version, stated_at, hours, cycles)
select workspace_id, asset_id, version, case when version > 1 then created_at end, hours, cycles
from (
  select *, lag(hours, 1, 0) over asset as hours_before, lag(cycles, 1, 0) over asset as cycles_before
  from (
    select workspace_id, asset_id, version, created_at,
      coalesce((document::jsonb #>> '{usage,hours}')::double precision, 0) as hours,
      coalesce((document::jsonb #>> '{usage,cycles}')::numeric::bigint, 0) as cycles
    from asset_versions
  ) as v
  window asset as (partition by workspace_id, asset_id order by version)
) as v
where hours <> hours_before or cycles <> cycles_before;

-- What an asset runs counts for everything that is or was installed in it.
create or replace function look_for_due_work() returns trigger language plpgsql as $$
begin
  insert into notice_looks (kind, workspace_id, thing)
  with recursive parts as (
    select new.workspace_id as workspace_id, new.asset_id as asset_id, 0 as level
    union
    select i.workspace_id, i.asset_id, p.level + 1 from parts p
    join asset_installations i on i.workspace_id = p.workspace_id and i.parent_asset_id = p.asset_id
    where p.level < 10
  )
  select 'asset', p.workspace_id, p.asset_id from (select distinct workspace_id, asset_id from parts) as p
  where exists (
    select 1 from asset_intervals i
    where i.workspace_id = p.workspace_id and i.asset_id = p.asset_id
      and (i.every_hours is not null or i.every_cycles is not null)
  );
  return null;
end
$$;
create trigger part_installed after insert on asset_installations
  for each row execute function look_for_due_work();
create trigger part_removed after update on asset_installations
  for each row execute function look_for_due_work();
