-- Up to when each check of fsck found everything in order, so that the next one can go on from there.
create table clean_checks (
  name        text        primary key,
  -- All that was written before was in order when it was looked at.
  clean_until timestamptz not null,
  -- The last time that all of it was looked at, whenever it was written.
  full_at     timestamptz not null
);
