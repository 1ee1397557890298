-- What people are told of: gas that runs low, work that is due, licences that expire.

-- What is wrong right now, as a node sees it; the reporter '' stands for what any node finds in the database. All of it is
-- about the installation. A row that is not seen again for half a minute counts no more: its node may be gone.
create table notice_signs (
  reporter text collate "C" not null,
  type     text collate "C" not null,
  subject  text collate "C" not null,
  data     jsonb            not null,
  -- Since when it is bad enough to tell; null while it only keeps a notice that is raised.
  since    timestamptz,
  -- How long it has to last before it is told.
  hold_ms  integer          not null check (hold_ms >= 0),
  seen_at  timestamptz      not null default now(),
  primary key (reporter, type, subject)
);

-- Committed with its event, so that it is told once. What is cleared and comes again is another notice.
create table notices (
  workspace_id text collate "C" not null references workspaces,
  id           text collate "C" not null,
  -- The type of its events.
  type         text collate "C" not null,
  -- What was looked at, such as an asset; '' for the installation. And what of it, such as an interval.
  thing        text collate "C" not null,
  subject      text collate "C" not null,
  data         jsonb            not null,
  since        timestamptz      not null,
  raised_at    timestamptz      not null,
  -- All is well again, perhaps not for long enough yet.
  well_since   timestamptz,
  cleared_at   timestamptz,
  primary key (workspace_id, id)
);
create unique index notices_raised on notices (workspace_id, type, thing, subject) where cleared_at is null;
create index notices_open on notices (workspace_id, id) where cleared_at is null;
create index notices_cleared on notices (cleared_at) where cleared_at is not null;

-- What to look at, and when: at once after a change, later when time alone may make it due. Rows are only added and removed.
create table notice_looks (
  id           bigint           generated always as identity primary key,
  kind         text collate "C" not null,
  workspace_id text collate "C" not null,
  thing        text collate "C" not null,
  at           timestamptz      not null default now(),
  -- By time alone; a later plan takes its place.
  planned      boolean          not null default false
);
create index notice_looks_in_time on notice_looks (at, id);
create index notice_looks_planned on notice_looks (workspace_id, kind, thing) where planned;

-- Who gets mail, and got some when. Without a row: with the role owner or admin, and none yet.
create table notice_recipients (
  workspace_id text collate "C" not null,
  user_id      text collate "C" not null,
  wants_mail   boolean          not null default true,
  mailed_at    timestamptz,
  primary key (workspace_id, user_id),
  foreign key (workspace_id, user_id) references members on delete cascade
);

-- Mail to be sent. A node that sends one sets `due_at` ahead: should it die, another tries again then.
create table notice_mails (
  id           bigint           generated always as identity primary key,
  workspace_id text collate "C" not null,
  user_id      text collate "C" not null,
  notice_id    text collate "C" not null,
  change       text             not null check (change in ('raised', 'cleared')),
  attempts     integer          not null default 0,
  created_at   timestamptz      not null default now(),
  due_at       timestamptz      not null default now(),
  foreign key (workspace_id, user_id) references members on delete cascade,
  foreign key (workspace_id, notice_id) references notices on delete cascade
);
create index notice_mails_in_time on notice_mails (due_at, id);
create index notice_mails_of_person on notice_mails (workspace_id, user_id, due_at);
create index notice_mails_of_notice on notice_mails (workspace_id, notice_id);

-- Arguments: the kind of thing, and the column with its id.
create function look_for_notices() returns trigger language plpgsql as $$
declare
  changed jsonb := case when tg_op = 'DELETE' then to_jsonb(old) else to_jsonb(new) end;
begin
  insert into notice_looks (kind, workspace_id, thing)
  values (tg_argv[0], changed ->> 'workspace_id', changed ->> tg_argv[1]);
  return null;
end
$$;
create trigger api_keys_expire after insert on api_keys
  for each row when (new.expires_at is not null) execute function look_for_notices('api_key', 'id');
create trigger api_keys_end after update on api_keys for each row
  when (new.expires_at is distinct from old.expires_at or new.revoked_at is distinct from old.revoked_at and new.expires_at is not null)
  execute function look_for_notices('api_key', 'id');
create trigger licences_given after insert on workers
  for each row when (new.licences <> '[]') execute function look_for_notices('worker', 'id');
create trigger licences_change after update on workers
  for each row when (new.licences <> old.licences) execute function look_for_notices('worker', 'id');
create trigger endpoints_fail after update on webhook_endpoints for each row
  when (new.failing_since is distinct from old.failing_since or new.enabled <> old.enabled
    or new.disabled_reason is distinct from old.disabled_reason or new.deleted_at is distinct from old.deleted_at)
  execute function look_for_notices('endpoint', 'id');
create trigger intervals_given after insert or delete on asset_intervals
  for each row execute function look_for_notices('asset', 'asset_id');
create trigger intervals_change after update on asset_intervals
  for each row execute function look_for_notices('asset', 'asset_id');

-- Usage counts only for assets with work that depends on it.
create function look_for_due_work() returns trigger language plpgsql as $$
begin
  if exists (
    select 1 from asset_intervals i
    where i.workspace_id = new.workspace_id and i.asset_id = new.asset_id
      and (i.every_hours is not null or i.every_cycles is not null)
  ) then
    insert into notice_looks (kind, workspace_id, thing) values ('asset', new.workspace_id, new.asset_id);
  end if;
  return null;
end
$$;
create trigger usage_stated after update on assets for each row
  when (new.usage_hours <> old.usage_hours or new.usage_cycles <> old.usage_cycles)
  execute function look_for_due_work();
create trigger usage_recorded after insert on maintenances for each row
  when (new.usage_hours is not null or new.usage_cycles is not null or new.supersedes is not null)
  execute function look_for_due_work();

insert into notice_looks (kind, workspace_id, thing)
select 'api_key', workspace_id, id from api_keys where expires_at > now() and revoked_at is null
union all
select 'worker', workspace_id, id from workers where licences <> '[]'
union all
select 'endpoint', workspace_id, id from webhook_endpoints
where deleted_at is null and (failing_since is not null or disabled_reason in ('gone', 'failing'))
union all
select distinct 'asset', workspace_id, asset_id from asset_intervals;
