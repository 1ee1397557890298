-- More than one clock: timestamp tokens and OpenTimestamps proofs of batches, what the heads of batches cover, and the block
-- that shows an anchor without a node.

alter table anchor_batches
  -- Header, index and receipt path; see proof/evm/inclusion.ts. Null until they are read, and after a reorg.
  add column inclusion_header bytea,
  add column inclusion_index  integer,
  add column inclusion_nodes  bytea[],
  -- Why there is none and never will be: the chain's blocks do not follow the rules.
  add column inclusion_refused text,
  -- A timestamp authority vouches for it: by a token of its own, or by one of a batch whose head covers it.
  add column stamped boolean not null default false,
  add check (num_nulls(inclusion_header, inclusion_index, inclusion_nodes) in (0, 3)),
  add check (inclusion_header is null or block_number is not null);
create index anchor_batches_without_inclusion on anchor_batches (id)
  where block_number is not null and inclusion_header is null and inclusion_refused is null;
create index anchor_batches_unstamped on anchor_batches (id) where not stamped;

-- What others vouch for: the root of a batch existed at a time.
create table timestamps (
  id           bigint      generated always as identity primary key,
  batch_id     bigint      not null references anchor_batches,
  kind         text        not null check (kind in ('rfc3161', 'opentimestamps')),
  -- The authority's URL; the calendars of an OpenTimestamps proof are in the proof.
  authority    text        not null,
  -- The token, or the .ots file.
  proof        bytea       not null,
  -- Of a token: certificates that it lacks, and lists of revoked ones.
  certificates bytea[]     not null default '{}',
  crls         bytea[]     not null default '{}',
  -- Of an OpenTimestamps proof: the blocks that it names.
  heights      integer[]   not null default '{}',
  headers      bytea[]     not null default '{}',
  -- An OpenTimestamps proof is pending until a Bitcoin block has it.
  complete     boolean     not null,
  -- The latest time that it vouches for; null while it is pending.
  vouched_at   timestamptz,
  -- When the certificate of a token's signer ends.
  valid_until  timestamptz,
  -- The head of a batch covers it.
  covered      boolean     not null default false,
  -- It is covered by a batch with a token whose certificate ends later.
  renewed      boolean     not null default false,
  created_at   timestamptz not null default now(),
  unique (batch_id, kind, authority),
  check ((kind = 'rfc3161') = (valid_until is not null)),
  check (complete = (vouched_at is not null)),
  check (cardinality(heights) = cardinality(headers))
);
create index timestamps_pending on timestamps (id) where not complete;
create index timestamps_to_cover on timestamps (id) where complete and not covered;
create index timestamps_to_renew on timestamps (valid_until, id) where valid_until is not null and not renewed;
create index timestamps_recent on timestamps (authority, created_at);

-- What the head of a batch covers: each item is the SHA-256 of a timestamp's bytes, or of the root of another batch.
create table evidence (
  head_batch_id bigint  not null references anchor_batches,
  position      integer not null check (position >= 0),
  sha256        bytea   not null check (length(sha256) = 32),
  timestamp_id  bigint references timestamps,
  root_batch_id bigint references anchor_batches,
  primary key (head_batch_id, position),
  check (num_nonnulls(timestamp_id, root_batch_id) = 1)
);
create index evidence_of_timestamp on evidence (timestamp_id, head_batch_id) where timestamp_id is not null;
create index evidence_of_root on evidence (root_batch_id, head_batch_id) where root_batch_id is not null;
