-- Where an epoch begins to count: at random, because two copies of a database may begin the same epoch.
alter table seal_epoch
  add column start bigint not null default 0 check (start between 0 and 2147483647);
