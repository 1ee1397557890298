-- compatible since: 0099_whom_the_provider_dropped
-- transaction: none
-- What a worker signed last: a registration or revocation of a passkey is after that.
create index concurrently if not exists signoffs_by_worker on signoffs (workspace_id, worker_id, created_at);
