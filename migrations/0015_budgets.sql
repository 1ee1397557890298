-- What a workspace may use, and what it uses. Counted by the commit itself, so that the figures are what a recount gives.

-- What the settings say, by name of the budget, as the node that started last reads them; null or absent: no limit.
create table budget_settings (
  singleton boolean primary key default true check (singleton),
  limits    jsonb   not null
);
-- What differs for one workspace, in the same form.
alter table workspaces add column limits jsonb not null default '{}' check (jsonb_typeof(limits) = 'object');

-- Record data that was stored with a leaf. (The bytes of files are those of their blobs.)
alter table anchor_leaves add column stored_bytes integer not null default 0 check (stored_bytes >= 0);

-- In parts, which are added up: those who commit at the same moment write to different rows, and do not wait. What a part
-- has reserved it uses without a look at the others: used and reserved of all parts together are never more than the limit.
create table workspace_usage (
  workspace_id text collate "C" not null,
  budget       text collate "C" not null check (budget in ('stored_bytes', 'anchors_per_day')),
  part         smallint         not null,
  -- That of a budget for a day, in UTC by the clock of the database; a part of an earlier one counts as nothing.
  day          date             not null default 'epoch',
  used         bigint           not null,
  reserved     bigint           not null default 0 check (reserved >= 0),
  primary key (workspace_id, budget, part)
) with (fillfactor = 50);

insert into workspace_usage (workspace_id, budget, part, used)
select workspace_id, 'stored_bytes', 0, sum(bytes)
from (
  select workspace_id, size as bytes from blobs where erased_at is null
  union all
  select workspace_id, octet_length(data) from records
) as stored
group by workspace_id;
insert into workspace_usage (workspace_id, budget, part, day, used)
select workspace_id, 'anchors_per_day', 0, (now() at time zone 'UTC')::date, count(*)
from anchor_leaves where created_at >= date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'
group by workspace_id;

-- Counts without asking for the limit: what is given back, and what the service adds of itself.
create function count_use(of_workspace text, of_budget text, of_day date, amount bigint, own_part integer)
returns boolean language plpgsql as $$
begin
  insert into workspace_usage as u (workspace_id, budget, part, day, used)
  values (of_workspace, of_budget, own_part, of_day, amount)
  on conflict (workspace_id, budget, part) do update
  set used = case when excluded.day = u.day then u.used + excluded.used
                  when excluded.day > u.day then excluded.used
                  else u.used end,
      reserved = case when excluded.day = u.day then greatest(u.reserved - greatest(excluded.used, 0), 0)
                      when excluded.day > u.day then 0
                      else u.reserved end,
      day = greatest(u.day, excluded.day);
  return true;
end
$$;

-- For a part that has not reserved enough: one after the other, takes an eighth of what nobody has reserved. Only where that
-- is not enough, it waits for all who are about to commit, and takes back what they have reserved and do not use.
create function reserve_and_use(of_workspace text, of_budget text, of_day date, amount bigint, own_part integer)
returns boolean language plpgsql as $$
declare
  lim   bigint;
  taken bigint;
  more  bigint := 1000000000000000;
begin
  perform pg_advisory_xact_lock_shared(4801016);
  perform pg_advisory_xact_lock(hashtextextended(of_budget || ' of ' || of_workspace, 15));
  -- A statement of its own, which sees what was committed during the wait.
  select (coalesce((select limits from budget_settings), '{}')
      || coalesce((select limits from workspaces where id = of_workspace), '{}') ->> of_budget)::bigint,
    (select coalesce(sum(used + reserved), 0) from workspace_usage
     where workspace_id = of_workspace and budget = of_budget and day = of_day)
  into lim, taken;
  if taken + amount > lim then
    perform 1 from workspace_usage
    where workspace_id = of_workspace and budget = of_budget order by part for update;
    update workspace_usage set reserved = 0
    where workspace_id = of_workspace and budget = of_budget and reserved > 0;
    select coalesce(sum(used), 0) into taken from workspace_usage
    where workspace_id = of_workspace and budget = of_budget and day = of_day;
  end if;
  if taken + amount > lim then
    raise exception 'the workspace % has used up its budget %', of_workspace, of_budget
      using errcode = 'check_violation', constraint = 'within_budget', detail = concat_ws(' ', of_budget, lim, of_workspace);
  end if;
  if lim is not null then
    more := (lim - taken - amount) / 8;
  end if;
  perform count_use(of_workspace, of_budget, of_day, amount, own_part);
  -- What it had reserved and was not enough has been used up by the count; `taken` has it still.
  update workspace_usage set reserved = reserved + more
  where workspace_id = of_workspace and budget = of_budget and part = own_part and day = of_day;
  return true;
end
$$;

-- Most of the time one row, and nobody else is asked.
create function use_budget(of_workspace text, of_budget text, of_day date, amount bigint, own_part integer)
returns boolean language plpgsql as $$
begin
  update workspace_usage set used = used + amount, reserved = reserved - amount
  where workspace_id = of_workspace and budget = of_budget and part = own_part and day = of_day and reserved >= amount;
  return found or reserve_and_use(of_workspace, of_budget, of_day, amount, own_part);
end
$$;

-- What was reserved under another limit counts no more.
create function drop_reservations() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'budget_settings' then
    perform pg_advisory_xact_lock(4801016);
    -- In the order in which commits take them.
    perform 1 from workspace_usage where reserved > 0
    order by workspace_id, budget desc, part for update;
    update workspace_usage set reserved = 0 where reserved > 0;
  else
    perform pg_advisory_xact_lock_shared(4801016);
    perform pg_advisory_xact_lock(hashtextextended('stored_bytes of ' || new.id, 15));
    perform pg_advisory_xact_lock(hashtextextended('anchors_per_day of ' || new.id, 15));
    perform 1 from workspace_usage where workspace_id = new.id order by budget desc, part for update;
    update workspace_usage set reserved = 0 where workspace_id = new.id and reserved > 0;
  end if;
  return null;
end
$$;
create trigger budget_settings_changed after insert or update on budget_settings
  for each row execute function drop_reservations();
create trigger workspaces_limits_changed after update of limits on workspaces
  for each row execute function drop_reservations();

-- In one order for all, so that no two commits wait for each other: by workspace, and bytes before anchors.
create function count_leaves() returns trigger language plpgsql as $$
declare
  today    date := (now() at time zone 'UTC')::date;
  own_part integer := pg_backend_pid() % 16;
  kept     record;
  done     boolean;
begin
  for kept in
    select workspace_id, count(*) as leaves, sum(stored_bytes) as bytes,
      bool_or(kind not in ('validation', 'audit-log')) as asked_for
    from added group by workspace_id order by workspace_id
  loop
    if kept.bytes > 0 then
      done := use_budget(kept.workspace_id, 'stored_bytes', 'epoch', kept.bytes, own_part);
    end if;
    if kept.asked_for then
      done := use_budget(kept.workspace_id, 'anchors_per_day', today, kept.leaves, own_part);
    else
      done := count_use(kept.workspace_id, 'anchors_per_day', today, kept.leaves, own_part);
    end if;
  end loop;
  return null;
end
$$;
-- After anchor_leaves_sealable, by its name: whoever waits for a vault or an asset there holds no budget yet.
create trigger anchor_leaves_within_budget after insert on anchor_leaves
  referencing new table as added for each statement execute function count_leaves();

-- A validation is anchored when it is made, by the service. So it is refused when it is asked for, once nothing is left.
create function refuse_validations() returns trigger language plpgsql as $$
declare
  spent record;
begin
  select * into spent from (
    select asking.workspace_id, (coalesce((select limits from budget_settings), '{}')
        || coalesce((select limits from workspaces where id = asking.workspace_id), '{}') ->> 'anchors_per_day')::bigint as lim,
      (select coalesce(sum(used), 0) from workspace_usage u
       where u.workspace_id = asking.workspace_id and u.budget = 'anchors_per_day'
         and u.day = (now() at time zone 'UTC')::date) as used
    from (select distinct workspace_id from added) as asking
  ) as budgets where used >= lim limit 1;
  if found then
    raise exception 'the workspace % has used up its budget anchors_per_day', spent.workspace_id
      using errcode = 'check_violation', constraint = 'within_budget', detail = concat_ws(' ', 'anchors_per_day', spent.lim, spent.workspace_id);
  end if;
  return null;
end
$$;
create trigger file_validations_within_budget after insert on file_validations
  referencing new table as added for each statement execute function refuse_validations();

create function count_blob() returns trigger language plpgsql as $$
declare
  done boolean;
begin
  if tg_op = 'INSERT' then
    done := use_budget(new.workspace_id, 'stored_bytes', 'epoch', new.size, pg_backend_pid() % 16);
  else
    done := count_use(old.workspace_id, 'stored_bytes', 'epoch', -old.size, pg_backend_pid() % 16);
  end if;
  return null;
end
$$;
create trigger blobs_counted after insert on blobs
  for each row when (new.erased_at is null and new.size > 0) execute function count_blob();
create trigger blobs_given_back after update of erased_at on blobs
  for each row when (old.erased_at is null and new.erased_at is not null) execute function count_blob();
create trigger blobs_removed after delete on blobs
  for each row when (old.erased_at is null) execute function count_blob();

-- Record data that is changed or removed; what is added comes with its leaf.
create function count_changed_data() returns trigger language plpgsql as $$
declare
  kept bigint := 0;
  done boolean;
begin
  if tg_op = 'UPDATE' then
    kept := coalesce(octet_length(new.data), 0);
  end if;
  done := count_use(old.workspace_id, 'stored_bytes', 'epoch',
    kept - coalesce(octet_length(old.data), 0), pg_backend_pid() % 16);
  return null;
end
$$;
create trigger records_data_changed after update of data on records
  for each row when (new.data is distinct from old.data) execute function count_changed_data();
create trigger records_removed after delete on records
  for each row execute function count_changed_data();
