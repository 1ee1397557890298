-- Webhooks: how an endpoint fares by the database's clock.

alter table webhook_endpoints
  -- The last failure that was written down: at most an hour before the last one there was.
  add column last_failure_at timestamptz;
update webhook_endpoints set last_failure_at = failing_since;
