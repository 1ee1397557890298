-- Webhooks: health by the database's clock, secrets that live to their own end, and a queue that costs nothing while it waits.

alter table webhook_endpoints
  -- The last failure that was written down: at most an hour before the last one there was.
  add column last_failure_at timestamptz;
update webhook_endpoints set last_failure_at = failing_since;

-- Secrets that were replaced: each goes on signing to its own end, however often the endpoint's secret is rotated.
create table webhook_previous_secrets (
  workspace_id text collate "C" not null,
  endpoint_id  text collate "C" not null,
  -- Of its row in `secrets`.
  id           text collate "C" not null,
  until        timestamptz      not null,
  primary key (workspace_id, endpoint_id, id)
);
insert into webhook_previous_secrets (workspace_id, endpoint_id, id, until)
select workspace_id, id, id, previous_secret_until from webhook_endpoints where previous_secret_until is not null;
alter table webhook_endpoints drop column previous_secret_until;

-- The queue tells what is due from what waits for its time, so that a claim looks at nothing that is not due.
alter table webhook_queue
  -- A retry whose time has not come yet. Set with the retry, taken away by whoever claims next after that time.
  add column asleep boolean not null default false,
  -- When its schedule goes on, while it is tried by hand before that.
  add column resume_at timestamptz,
  -- Attempts that somebody asked for; they are no part of the schedule.
  add column manual_count integer not null default 0,
  -- How long it waited for this service after it was due: no part of the time that a receiver has.
  add column late_ms double precision not null default 0;
update webhook_queue set asleep = true where next_attempt_at > now();
drop index webhook_queue_due;
create index webhook_queue_due on webhook_queue (endpoint_id, retrying, next_attempt_at) where not asleep;
create index webhook_queue_asleep on webhook_queue (next_attempt_at) where asleep;
create index webhook_queue_asleep_by_endpoint on webhook_queue (endpoint_id) where asleep;
