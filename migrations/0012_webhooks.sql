-- Webhooks: how an endpoint fares by the database's clock, and secrets that live to their own end.

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
  primary key (workspace_id, endpoint_id, id),
  foreign key (workspace_id, endpoint_id) references webhook_endpoints
);
insert into webhook_previous_secrets (workspace_id, endpoint_id, id, until)
select workspace_id, id, id, previous_secret_until from webhook_endpoints where previous_secret_until is not null;
alter table webhook_endpoints drop column previous_secret_until;
