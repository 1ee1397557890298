-- The answers of idempotent requests in fewer bytes, and with shorter keys to compare: a request is known by a hash, and an
-- answer that can be made again from what it tells of is kept as the ids of that. See http/api/idempotency.ts.

create temporary table kept_answers on commit drop as
  select created_at, status,
         sha256(convert_to(concat_ws(' ', workspace_id, method, path, key), 'UTF8')) as slot, fingerprint, body
  from idempotent_answers;
drop table idempotent_answers;

create table idempotent_answers (
  created_at  timestamptz not null default now(),
  status      integer     not null,
  -- SHA-256 of workspace, method, path and key.
  slot        bytea       primary key,
  -- SHA-256 of the payload.
  fingerprint bytea       not null,
  -- What the route makes the answer from again. Neither this nor the body: the answer has a secret, and is sealed in `secrets`.
  made        bytea,
  body        text,
  check (num_nonnulls(made, body) <= 1)
);
create index idempotent_answers_by_age on idempotent_answers (created_at);

insert into idempotent_answers (created_at, status, slot, fingerprint, body)
  select created_at, status, slot, fingerprint, body from kept_answers;
