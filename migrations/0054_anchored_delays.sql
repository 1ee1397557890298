-- How long leaves took to be confirmed is kept with the counted hour, instead of the subtrees to look it up in: a month of the
-- overview read up to 24,000 leaves. The hours are counted anew.
truncate anchored_hours;
delete from anchored_hours_counted;
alter table anchored_hours
  drop column subtrees,
  -- A histogram of the milliseconds, and the eighths of leaves that each of them stands for.
  add column delays_ms bigint[] not null,
  add column weights bigint[] not null check (cardinality(weights) = cardinality(delays_ms));
