-- The access log counts looks of people, not their requests; intervals count their changes.

-- What else a person looked at within the same minute: one page of the dashboard asks for several things.
alter table asset_access_log add column also text[] not null default '{}';

-- Counts its changes, so that nobody overwrites one unseen.
alter table asset_intervals add column version integer not null default 1 check (version > 0);
