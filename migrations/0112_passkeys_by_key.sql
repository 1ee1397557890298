-- compatible since: 0099_whom_the_provider_dropped
-- transaction: none
-- A public key is no secret, and whoever registers a passkey need not have the private one: two registrations of one key would
-- contradict each other for every verifier. By its hash, because a key of RSA may be longer than what an index holds.
create unique index concurrently if not exists worker_passkeys_by_key on worker_passkeys (workspace_id, sha256(public_key))
  where state <> 'refused';
