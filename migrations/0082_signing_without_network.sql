-- Signatures that waited on a device: the counters of passkeys are compared in the order of signing, and requests can be withdrawn.
-- compatible since: 0054_anchored_delays
-- Each use of a passkey. The first row of a passkey is what it had counted before its uses were kept, at the beginning of time.
create table passkey_uses (
  workspace_id text collate "C" not null,
  passkey_id   text collate "C" not null,
  -- As the signer's device states it, in whole seconds.
  signed_at    timestamptz      not null,
  counter      bigint           not null,
  primary key (workspace_id, passkey_id, signed_at, counter),
  foreign key (workspace_id, passkey_id) references worker_passkeys
);
alter table sign_requests
  add column withdrawn_at timestamptz,
  add unique (workspace_id, id);
