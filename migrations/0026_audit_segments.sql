-- Audit entries are written once and never updated: their places in the chain are kept in segments, one row for up to a
-- hundred entries, which is written once too. Updating each entry took more than twice as long as inserting it.
create table audit_segments (
  workspace_id   text collate "C" not null,
  -- Of the first entry. The others follow without a gap, and the next segment follows the last of them.
  first_sequence bigint           not null,
  count          integer          not null check (count > 0),
  -- The bounds of the ids, to find the segment of an entry: they are at most two seconds apart.
  first_id       bytea            not null,
  last_id        bytea            not null,
  -- 16 bytes for each entry: its id, as bytes.
  ids            bytea            not null,
  -- 32 bytes for each entry: its hash.
  hashes         bytea            not null,
  chained_at     timestamptz      not null default now(),
  primary key (workspace_id, first_sequence),
  check (octet_length(ids) = 16 * count and octet_length(hashes) = 32 * count)
);
create index audit_segments_by_id on audit_segments (workspace_id, last_id, first_id);
-- Hashes cannot be compressed, and single ones can be read from the middle.
alter table audit_segments alter column ids set storage external, alter column hashes set storage external;

-- How far the search for new entries has come. Each round that finds any replaces the row: an update would leave versions
-- that every later round has to pass while an old snapshot is open.
create table audit_positions (
  number           bigint    generated always as identity primary key,
  -- The cluster whose transactions `seen` is about: numbers of another one mean nothing here.
  cluster          bigint    not null,
  -- Entries that this snapshot shows need not be looked for any more,
  seen             pg_snapshot not null,
  -- except those behind this key while the whole table is looked through. Null: all were.
  walked_workspace text collate "C",
  walked_id        text collate "C",
  check ((walked_workspace is null) = (walked_id is null))
);

-- The 16 bytes of an id: two bits that are zero, then 26 digits of five bits.
create function pg_temp.id_bytes(id text) returns bytea language sql as $$
  select int8send(substring(bits, 3, 64)::bit(64)::bigint) || int8send(substring(bits, 67, 64)::bit(64)::bigint)
  from (
    select string_agg((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(id, n + 4, 1)) - 1)::bit(5)::text, '' order by n) as bits
    from generate_series(1, 26) as n
  ) as digits
$$;

-- In segments, ids ascend. The first 8 characters of the 26 stand for about a second.
with entries as (
  select workspace_id, id, sequence, hash,
         (id < lag(id) over chain or left(id, 12) <> lag(left(id, 12)) over chain) is not false as begins
  from audit_entries where sequence is not null
  window chain as (partition by workspace_id order by sequence)
), runs as (
  select *, count(*) filter (where begins) over (partition by workspace_id order by sequence) as run from entries
), parts as (
  select *, (row_number() over (partition by workspace_id, run order by sequence) - 1) / 100 as part from runs
)
insert into audit_segments (workspace_id, first_sequence, count, first_id, last_id, ids, hashes)
select workspace_id, min(sequence), count(*), pg_temp.id_bytes(min(id)), pg_temp.id_bytes(max(id)),
       string_agg(pg_temp.id_bytes(id), '' order by sequence), string_agg(hash, '' order by sequence)
from parts group by workspace_id, run, part;

-- Without the columns of the chain; those of a fixed size come first, which leaves no gaps between them.
create table new_audit_entries (
  at            timestamptz      not null,
  -- The transaction that wrote it, to find new entries.
  written_in    bigint           not null default pg_current_xact_id()::text::bigint,
  workspace_id  text collate "C" not null,
  id            text collate "C" not null,
  actor_kind    text             not null,
  actor_id      text             not null,
  action        text             not null,
  target_id     text collate "C" not null,
  request_id    text,
  details       jsonb            not null default '{}',
  -- SHA-256 of the entry itself.
  digest        bytea            not null
);
insert into new_audit_entries (at, written_in, workspace_id, id, actor_kind, actor_id, action, target_id, request_id, details, digest)
select at, 0, workspace_id, id, actor_kind, actor_id, action, target_id, request_id, details, digest
from audit_entries order by id;
drop table audit_entries;
alter table new_audit_entries rename to audit_entries;
alter table audit_entries add primary key (workspace_id, id);
create index audit_entries_written_in on audit_entries (written_in);
create index audit_entries_by_target on audit_entries (target_id, id);

create or replace function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end
$$;
create trigger audit_entries_append_only before update or delete or truncate on audit_entries
  for each statement execute function refuse_audit_change();
create trigger audit_segments_append_only before update or delete or truncate on audit_segments
  for each statement execute function refuse_audit_change();
