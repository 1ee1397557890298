-- Timestamps that last: batches of a head alone, so that tokens are renewed while nothing is anchored; heads that wait for a
-- token, so that the next one need not cover the same again; certificates and lists of revoked ones stored once; and when an
-- authority was asked, which outlives a restart.

alter table anchor_batches
  drop constraint anchor_batches_size_check,
  -- 0: a head alone.
  add constraint anchor_batches_size_check check (size >= 0),
  -- Its head covers roots or tokens that a token of this batch is to vouch for.
  add column awaits_token boolean not null default false;
create index anchor_batches_awaiting_token on anchor_batches (id) where awaits_token and not stamped;
create index anchor_batches_covering on anchor_batches (id) where awaits_token;
create index anchor_batches_heads_alone on anchor_batches (id) where size = 0;

-- Certificates and lists of revoked ones, which many tokens have in common.
create table timestamp_files (
  sha256 bytea primary key check (length(sha256) = 32),
  bytes  bytea not null
);
insert into timestamp_files (sha256, bytes)
  select sha256(file), file from timestamps t cross join lateral unnest(t.certificates || t.crls) as file
  on conflict do nothing;
-- By their SHA-256.
alter table timestamps rename column certificates to certificate_hashes;
alter table timestamps rename column crls to crl_hashes;
update timestamps set
  certificate_hashes = array(
    select sha256(file) from unnest(certificate_hashes) with ordinality as named (file, place) order by place),
  crl_hashes = array(
    select sha256(file) from unnest(crl_hashes) with ordinality as named (file, place) order by place)
where cardinality(certificate_hashes) + cardinality(crl_hashes) > 0;

-- Tokens that were renewed early, by one that lasts little longer, are renewed once more.
update timestamps t set renewed = false
where renewed and not exists (
  select from evidence e join timestamps n on n.batch_id = e.head_batch_id
  where e.timestamp_id = t.id and n.vouched_at < t.valid_until
    and n.valid_until - t.valid_until >= greatest(interval '1 day', 2 * (t.valid_until - n.vouched_at)));

create table authority_requests (
  -- The authority's URL.
  authority text        primary key,
  last_at   timestamptz not null,
  -- Requests since the last token that it gave.
  failures  integer     not null check (failures >= 0)
);
