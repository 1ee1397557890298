-- Events that wait for their position and audit entries that wait for their place in the chain are found by the transaction
-- that wrote them: once it and all before it have ended, nothing more comes in behind it, so who works through them need
-- not look there again. (By id that is not so: each node has a clock of its own.)
alter table events add column written_in bigint not null default 0;
alter table events alter column written_in set default pg_current_xact_id()::text::bigint;
drop index events_without_position;
create index events_without_position on events (written_in, id) where position is null;

alter table audit_entries add column written_in bigint not null default 0;
alter table audit_entries alter column written_in set default pg_current_xact_id()::text::bigint;
drop index audit_entries_unchained;
create index audit_entries_unchained on audit_entries (written_in, id) where sequence is null;
