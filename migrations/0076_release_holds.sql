-- Versions of files that are attached to a certified entry: their content is needed to show what was released, so nothing
-- erases them until a certified correction takes the place of the entry.
create table release_holds (
  workspace_id   text collate "C" not null,
  file_id        text collate "C" not null,
  version        integer          not null check (version > 0),
  maintenance_id text collate "C" not null,
  asset_id       text collate "C" not null,
  created_at     timestamptz      not null default now(),
  primary key (workspace_id, file_id, version, maintenance_id)
);
create index release_holds_by_entry on release_holds (workspace_id, maintenance_id);

create function hold_released_files() returns trigger language plpgsql as $$
begin
  -- An erasure locks the file for update: it is over, or it waits and then sees the hold. Always in one order.
  perform 1 from files f
  join maintenances m on m.workspace_id = new.workspace_id and m.id = new.maintenance_id
  where f.workspace_id = new.workspace_id
    and f.id in (select a.file ->> 'fileId' from jsonb_array_elements(m.entry::jsonb -> 'files') as a (file))
  order by f.id for key share of f;
  delete from release_holds h using (
    with recursive corrected as (
      select supersedes as id from maintenances where workspace_id = new.workspace_id and id = new.maintenance_id
      union
      select m.supersedes from corrected c
      join maintenances m on m.workspace_id = new.workspace_id and m.id = c.id
    )
    select id from corrected where id is not null
  ) as c
  where h.workspace_id = new.workspace_id and h.maintenance_id = c.id;
  insert into release_holds (workspace_id, file_id, version, maintenance_id, asset_id)
  select m.workspace_id, a.file ->> 'fileId', (a.file ->> 'version')::integer, m.id, m.asset_id
  from maintenances m cross join lateral jsonb_array_elements(m.entry::jsonb -> 'files') as a (file)
  where m.workspace_id = new.workspace_id and m.id = new.maintenance_id
  on conflict do nothing;
  return null;
end
$$;
create trigger signoffs_release after insert on signoffs
  for each row when (new.role = 'certified') execute function hold_released_files();

with recursive ended as (
  select s.workspace_id, m.supersedes as id from signoffs s
  join maintenances m on m.workspace_id = s.workspace_id and m.id = s.maintenance_id
  where s.role = 'certified' and m.supersedes is not null
  union
  select e.workspace_id, m.supersedes from ended e
  join maintenances m on m.workspace_id = e.workspace_id and m.id = e.id
  where m.supersedes is not null
)
insert into release_holds (workspace_id, file_id, version, maintenance_id, asset_id)
select m.workspace_id, a.file ->> 'fileId', (a.file ->> 'version')::integer, m.id, m.asset_id
from (select distinct workspace_id, maintenance_id from signoffs where role = 'certified') as s
join maintenances m on m.workspace_id = s.workspace_id and m.id = s.maintenance_id
cross join lateral jsonb_array_elements(m.entry::jsonb -> 'files') as a (file)
where not exists (select 1 from ended e where e.workspace_id = m.workspace_id and e.id = m.id)
on conflict do nothing;
