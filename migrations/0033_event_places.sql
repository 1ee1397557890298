-- Events are written once and never updated: their positions in the feed are kept in segments, one row for up to 48 events,
-- which is written once too. Updating each event took as long as inserting it, and left a dead row and five index entries.
lock table events in access exclusive mode;

create table event_segments (
  -- Of the first and the last event. The segments of all workspaces together follow each other without a gap.
  first_position bigint           primary key,
  last_position  bigint           not null,
  workspace_id   text collate "C" not null,
  -- What all ids begin with, which is a second of time, so that the segments to look into for an event are few.
  id_start       text collate "C" not null,
  -- Ascending, in the order of the feed.
  ids            text[] collate "C" not null,
  -- Each once.
  types          text[]           not null,
  check (cardinality(ids) between 1 and 48 and last_position - first_position = cardinality(ids) - 1)
);
create unique index event_segments_in_order on event_segments (workspace_id, last_position);
create index event_segments_by_id on event_segments (workspace_id, id_start);

-- How far the search for new events has come. Each round that finds any replaces the row: an update would leave versions
-- that every later round has to pass while an old snapshot is open.
create table event_positions (
  number           bigint      primary key,
  -- The cluster whose transactions `seen` is about: numbers of another one mean nothing here.
  cluster          bigint      not null,
  -- Events that this snapshot shows need not be looked for any more,
  seen             pg_snapshot not null,
  -- except those behind this key while the whole table is looked through. Null: all were.
  walked_workspace text collate "C",
  walked_id        text collate "C",
  -- Events up to this transaction number may have been copied from another cluster, and placed there.
  copied_until     bigint      not null,
  check ((walked_workspace is null) = (walked_id is null))
);

-- With the positions that readers know. Those that have none come last.
with positions as (
  select workspace_id, id, type, left(id, 12) as id_start,
         coalesce(position, (select coalesce(max(position), 0) from events)
           + row_number() over (partition by position is null order by id)) as position
  from events
), steps as (
  -- The same number for events of a workspace and a second that follow each other.
  select *, position - row_number() over second as step, id < lag(id) over second as falls from positions
  window second as (partition by workspace_id, id_start order by position)
), runs as (
  select *, count(*) filter (where falls) over (partition by workspace_id, id_start order by position) as run from steps
), parts as (
  select *, (row_number() over (partition by workspace_id, id_start, step, run order by position) - 1) / 48 as part from runs
)
insert into event_segments (first_position, last_position, workspace_id, id_start, ids, types)
select min(position), max(position), workspace_id, id_start, array_agg(id order by position), array_agg(distinct type)
from parts group by workspace_id, id_start, step, run, part order by 1;
insert into event_positions (number, cluster, seen, copied_until)
select 1, system_identifier, pg_current_snapshot(), 0 from pg_control_system() where exists (select from events);

-- Without the position; the columns of a fixed size come first, which leaves no gaps between them. And without a foreign key,
-- as other tables that only grow: no workspace is ever deleted, and every insert would look for it.
create table new_events (
  created_at   timestamptz(3)   not null default now(),
  -- The transaction that wrote it, to find new events. 0: it was placed with its insert.
  written_in   bigint           not null default pg_current_xact_id()::text::bigint,
  workspace_id text collate "C" not null,
  id           text collate "C" not null,
  type         text             not null,
  -- The exact text that is signed, sent and served.
  envelope     text             not null
);
insert into new_events (created_at, written_in, workspace_id, id, type, envelope)
select created_at, 0, workspace_id, id, type, envelope from events order by id;
drop table events;
alter table new_events rename to events;
alter table events add primary key (workspace_id, id);
create index events_written_in on events (written_in) where written_in > 0;
create trigger events_fan_out after insert on events
  referencing new table as new_events for each statement execute function fan_out_events();

-- Each event with its position, which is null until it has one.
create view placed_events as
select e.created_at, e.written_in, e.workspace_id, e.id, e.type, e.envelope, s.position
from events e
left join lateral (
  select first_position + array_position(ids, e.id) - 1 as position from event_segments s
  where s.workspace_id = e.workspace_id and s.id_start = left(e.id, 12) and array_position(ids, e.id) is not null
  limit 1
) as s on true;
