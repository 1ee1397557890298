-- Leaves are written once and never updated: the batch and the place of each are kept in rows about up to 256 leaves, which
-- are written once too. Updating each leaf took longer than inserting it, and left a dead row and four index entries.
create table anchor_places (
  -- Of the first leaf. All leaves of a row have the same id / 256, so that the rows to look into for a leaf are few.
  first_id bigint    primary key,
  batch_id bigint    not null references anchor_batches,
  -- The places of the leaves with this id and the following ones; -1 for those that are not in this batch.
  places   integer[] not null check (cardinality(places) between 1 and 256 - (first_id & 255)),
  check (places[1] >= 0)
);
create index anchor_places_of_batch on anchor_places (batch_id);

-- Leaves that were looked at when a batch was made, and are not in one yet.
create table anchor_waiting (
  leaf_id bigint primary key
);

-- How far the search for new leaves has come. Each batch replaces the row: an update would leave versions that every later
-- batch has to pass while an old snapshot is open. Whoever makes a batch replaces the row that he has begun with, so two
-- cannot take the same leaves.
create table anchor_positions (
  number    bigint      primary key,
  -- The cluster whose transactions `seen` is about: numbers of another one mean nothing here.
  cluster   bigint      not null,
  -- A leaf that this snapshot shows is in a batch or waits,
  seen      pg_snapshot not null,
  -- except those behind the first of these ids, up to the second, while all are looked through. Null: all were.
  walked_id bigint,
  end_id    bigint,
  check ((walked_id is null) = (end_id is null))
);

-- 8 bytes for each leaf of the subtree, ordered by place: its id.
alter table anchor_subtrees add column ids bytea;
update anchor_subtrees s set ids = coalesce((
  select string_agg(int8send(l.id), '' order by l.place) from anchor_leaves l
  where l.batch_id = s.batch_id and l.place >= s.first_place and l.place < s.first_place + octet_length(s.leaves) / 32
), '');
alter table anchor_subtrees alter column ids set not null, alter column ids set storage external;

insert into anchor_places (first_id, batch_id, places)
select first_id, batch_id, array(
  select coalesce(l.place, -1) from generate_series(first_id, last_id) as wanted (id)
  left join anchor_leaves l on l.id = wanted.id and l.batch_id = part.batch_id
  order by wanted.id
)
from (
  select batch_id, min(id) as first_id, max(id) as last_id from anchor_leaves
  where batch_id is not null group by batch_id, id >> 8
) as part;
insert into anchor_waiting (leaf_id) select id from anchor_leaves where batch_id is null;
insert into anchor_positions (number, cluster, seen)
select 1, system_identifier, pg_current_snapshot() from pg_control_system() where exists (select from anchor_leaves);

-- Without the columns of the batch; those of a fixed size come first, which leaves no gaps between them.
create table new_anchor_leaves (
  id                  bigint           generated always as identity,
  created_at          timestamptz      not null default now(),
  -- The transaction that wrote it, to find new leaves.
  written_in          bigint           not null default pg_current_xact_id()::text::bigint,
  -- When it was first anchored, in a format that is void by now: a statement of this installation, no evidence.
  first_anchored_time bigint,
  version             integer          not null,
  stored_bytes        integer          not null default 0 check (stored_bytes >= 0),
  -- Its first confirmation was announced; the next one is not.
  announced_before    boolean          not null default false,
  workspace_id        text collate "C" not null,
  kind                text             not null,
  subject_id          text collate "C" not null,
  vault_id            text collate "C" not null,
  canonicalization    text             not null check (canonicalization in ('raw', 'jcs', 'hmac-sha256')),
  digest              bytea            not null check (length(digest) = 32),
  -- Of the same subject.
  previous_leaf       bytea            not null check (length(previous_leaf) = 32),
  claims_hash         bytea            not null check (length(claims_hash) = 32),
  leaf                bytea            not null check (length(leaf) = 32),
  -- JSON; null once the content was erased. The hash stays: it is part of the leaf.
  claims              text
);
insert into new_anchor_leaves (id, created_at, written_in, first_anchored_time, version, stored_bytes, announced_before,
  workspace_id, kind, subject_id, vault_id, canonicalization, digest, previous_leaf, claims_hash, leaf, claims)
overriding system value
select id, created_at, 0, first_anchored_time, version, stored_bytes, announced_before, workspace_id, kind, subject_id,
  vault_id, canonicalization, digest, previous_leaf, claims_hash, leaf, claims
from anchor_leaves order by id;
select setval('new_anchor_leaves_id_seq', last_value, is_called) from anchor_leaves_id_seq;
drop table anchor_leaves;
alter table new_anchor_leaves rename to anchor_leaves;
alter sequence new_anchor_leaves_id_seq rename to anchor_leaves_id_seq;
alter table anchor_leaves
  add primary key (id),
  add unique (workspace_id, subject_id, kind, version);
create index anchor_leaves_written_in on anchor_leaves (written_in);
create trigger anchor_leaves_sealable after insert on anchor_leaves
  referencing new table as added for each statement execute function hold_sealing_vaults();
create trigger anchor_leaves_within_budget after insert on anchor_leaves
  referencing new table as added for each statement execute function count_leaves();

-- Each leaf with its batch and place, which are null while it is pending.
create view placed_leaves as
select l.*, p.batch_id, p.place
from anchor_leaves l
left join lateral (
  select batch_id, places[(l.id - first_id + 1)::integer] as place from anchor_places
  where first_id between l.id & -256 and l.id and places[(l.id - first_id + 1)::integer] >= 0
  order by first_id desc limit 1
) as p on true;
