-- Positions of the feed that are left out: a database that was lost may have given them to events that readers have seen. The
-- events after the jump have positions behind `to_position`, so no reader takes one for another, and none misses any.
create table feed_jumps (
  to_position    bigint      primary key,
  after_position bigint      not null,
  jumped_at      timestamptz not null default now(),
  check (to_position > after_position)
);
