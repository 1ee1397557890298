-- A restore takes the feed back, and the positions after it are given a second time. So that a cursor from before is known
-- for what it is, the feed has a generation, which every restore replaces by one that never was. The first one is empty.
create table event_feed (
  is_only    boolean     primary key default true check (is_only),
  generation text        not null default '',
  began_at   timestamptz not null default now()
);
insert into event_feed default values;
