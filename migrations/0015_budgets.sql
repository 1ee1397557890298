-- What a workspace may use, and what it uses. Counted by the commit itself, so that the figures are what a recount gives.

-- What the settings say, by name of the budget, as the node that started last reads them; null or absent: no limit.
create table budget_settings (
  singleton boolean primary key default true check (singleton),
  limits    jsonb   not null
);
-- What differs for one workspace, in the same form.
alter table workspaces add column limits jsonb not null default '{}' check (jsonb_typeof(limits) = 'object');

-- Of the data that is stored with a leaf: a record's, an asset's, an entry's, a sign-off's. (The bytes of files are those
-- of their blobs.)
alter table anchor_leaves add column stored_bytes integer not null default 0 check (stored_bytes >= 0);

-- Each commit adds a row, so that no two wait for one. Now and then a total takes the place of the rows before it: what is
-- used is the newest total and all that was added after it. No row is ever changed: while an old snapshot is open, a
-- backup's say, PostgreSQL keeps each version of one, and every commit would look through them all.
create table workspace_usage (
  workspace_id text collate "C" not null,
  budget       text collate "C" not null check (budget in ('stored_bytes', 'anchors_per_day')),
  -- That of a budget for a day, in UTC by the clock of the database; else the epoch.
  day          date             not null,
  number       bigint           not null generated always as identity,
  is_total     boolean          not null default false,
  used         bigint           not null,
  primary key (workspace_id, budget, day, number)
);
create index workspace_usage_totals on workspace_usage (workspace_id, budget, day, number) where is_total;

insert into workspace_usage (workspace_id, budget, day, is_total, used)
select workspace_id, 'stored_bytes', 'epoch', true, sum(bytes)
from (
  select workspace_id, size as bytes from blobs where erased_at is null
  union all
  select workspace_id, octet_length(data) from records
  union all
  select workspace_id, octet_length(document) from asset_versions
  union all
  select workspace_id, octet_length(entry) from maintenances
  union all
  select workspace_id, octet_length(document) from signoffs
) as stored
group by workspace_id;
insert into workspace_usage (workspace_id, budget, day, is_total, used)
select workspace_id, 'anchors_per_day', (now() at time zone 'UTC')::date, true, count(*)
from (
  select workspace_id, created_at from anchor_leaves where kind <> 'validation'
  union all
  select workspace_id, created_at from file_validations
) as asked
where created_at >= date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'
group by workspace_id;

-- With the number of the newest total, null before the first, and how many rows were added after it.
create function budget_use(
  of_workspace text, of_budget text, of_day date, out used bigint, out total_number bigint, out added bigint
) language plpgsql stable as $$
begin
  select t.used, t.number into budget_use.used, total_number from workspace_usage t
  where t.workspace_id = of_workspace and t.budget = of_budget and t.day = of_day and t.is_total
  order by t.number desc limit 1;
  select coalesce(budget_use.used, 0) + coalesce(sum(u.used), 0), count(*) into budget_use.used, added from workspace_usage u
  where u.workspace_id = of_workspace and u.budget = of_budget and u.day = of_day
    and u.number > coalesce(total_number, 0);
end
$$;

-- Far below its limit a workspace commits as much at once as it likes, by a lock that is shared. Those who do so were told
-- at most seven eighths of the limit, and a thousand of them together take at most the last one. From there on they commit
-- one after the other, and see all of what the others have used; so does who makes a total, and every thirtieth does.
-- `is_checked`: else it is counted whatever the limit is, as what is given back and what the service adds of itself.
create function use_budget(of_workspace text, of_budget text, of_day date, amount bigint, is_checked boolean)
returns void language plpgsql as $$
declare
  own_lock bigint := hashtextextended(of_budget || ' of ' || of_workspace, 15);
  lim      bigint;
  known    record;
  is_far   boolean := false;
  own      bigint;
begin
  if is_checked then
    lim := (coalesce((select limits from budget_settings), '{}')
      || coalesce((select limits from workspaces where id = of_workspace), '{}') ->> of_budget)::bigint;
  end if;
  begin
    perform pg_advisory_xact_lock_shared(own_lock);
    -- A statement of its own, which sees what was committed during the wait.
    known := budget_use(of_workspace, of_budget, of_day);
    is_far := known.total_number is not null and known.added < 30
      and (lim is null or known.used <= lim - lim / 8 and amount <= lim / 8000);
    if not is_far then
      -- Gives back the lock: two that share it and both want it alone would wait for each other.
      raise sqlstate 'HF001';
    end if;
  exception when sqlstate 'HF001' then
    perform pg_advisory_xact_lock(own_lock);
    known := budget_use(of_workspace, of_budget, of_day);
  end;
  if known.used + amount > lim then
    raise exception 'the workspace % has used up its budget %', of_workspace, of_budget
      using errcode = 'check_violation', constraint = 'within_budget',
        detail = concat_ws(' ', of_budget, lim, of_workspace);
  end if;
  if is_far or known.total_number is not null and known.added < 30 then
    insert into workspace_usage (workspace_id, budget, day, used) values (of_workspace, of_budget, of_day, amount);
    return;
  end if;
  insert into workspace_usage (workspace_id, budget, day, is_total, used)
  values (of_workspace, of_budget, of_day, true, known.used + amount)
  returning number into own;
  delete from workspace_usage
  where workspace_id = of_workspace and budget = of_budget and day = of_day
    and number >= coalesce(known.total_number, 0) and number < own;
  if known.total_number is null then
    delete from workspace_usage where workspace_id = of_workspace and budget = of_budget and day < of_day;
  end if;
end
$$;

-- In one order for all, so that no two commits wait for each other: by workspace, and bytes before anchors.
create function count_leaves() returns trigger language plpgsql as $$
declare
  today date := (now() at time zone 'UTC')::date;
  kept  record;
begin
  for kept in
    select workspace_id, sum(stored_bytes) as bytes,
      count(*) filter (where kind <> 'validation') as leaves, bool_or(kind <> 'audit-log') as is_asked_for
    from added group by workspace_id order by workspace_id
  loop
    if kept.bytes > 0 then
      perform use_budget(kept.workspace_id, 'stored_bytes', 'epoch', kept.bytes, true);
    end if;
    if kept.leaves > 0 then
      perform use_budget(kept.workspace_id, 'anchors_per_day', today, kept.leaves, kept.is_asked_for);
    end if;
  end loop;
  return null;
end
$$;
-- After anchor_leaves_sealable, by its name: whoever waits for a vault or an asset there holds no budget yet.
create trigger anchor_leaves_within_budget after insert on anchor_leaves
  referencing new table as added for each statement execute function count_leaves();

-- A validation is anchored by the service, later: it counts when it is asked for, and not again by its leaf.
create function count_validations() returns trigger language plpgsql as $$
declare
  asked record;
begin
  for asked in select workspace_id, count(*) as validations from added group by workspace_id order by workspace_id
  loop
    perform use_budget(asked.workspace_id, 'anchors_per_day', (now() at time zone 'UTC')::date, asked.validations, true);
  end loop;
  return null;
end
$$;
create trigger file_validations_within_budget after insert on file_validations
  referencing new table as added for each statement execute function count_validations();

create function count_blob() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform use_budget(new.workspace_id, 'stored_bytes', 'epoch', new.size, true);
  else
    perform use_budget(old.workspace_id, 'stored_bytes', 'epoch', -old.size, false);
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
