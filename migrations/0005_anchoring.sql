-- The chain that things are anchored on, what is sent to it, what is read from it, and the records that are anchored.

-- Which node leads work that only one may do at a time. Its epoch grows with every change of leader and fences off the
-- late writes of the one before.
create table leaders (
  work        text        primary key,
  epoch       bigint      not null default 0,
  -- The connection that holds the advisory lock, so that a successor can end that of a leader that hangs.
  backend_pid integer,
  beat_at     timestamptz not null default now()
);

-- The one chain of this installation. Another genesis under the same settings is refused.
create table chain (
  singleton    boolean     primary key default true check (singleton),
  chain_id     bigint      not null check (chain_id > 0),
  genesis_hash bytea       not null check (length(genesis_hash) = 32),
  embedded     boolean     not null,
  registry     bytea       not null check (length(registry) = 20),
  submitter    bytea       not null check (length(submitter) = 20),
  created_at   timestamptz not null default now()
);

-- What is sent. A row has its nonce and its first signed attempt from the commit that made it.
create table sender_accounts (
  address    bytea  primary key check (length(address) = 20),
  next_nonce bigint not null check (next_nonce >= 0)
);

create table outgoing_transactions (
  id                bigint      generated always as identity primary key,
  account           bytea       not null references sender_accounts,
  nonce             bigint      not null check (nonce >= 0),
  purpose           text        not null,
  to_address        bytea       not null check (length(to_address) = 20),
  call_data         bytea       not null,
  gas_limit         bigint      not null check (gas_limit > 0),
  -- signed: stored, perhaps broadcast. submitted: a node took it. mined: in a block that is not deep enough yet.
  -- failed: it reverted, or something else took its nonce and it can never pass; the reason says why.
  status            text        not null default 'signed'
    check (status in ('signed', 'submitted', 'mined', 'confirmed', 'finalized', 'failed')),
  reason            text,
  -- Where it was mined, as the indexer's blocks have it.
  mined_hash        bytea,
  block_number      bigint,
  block_hash        bytea,
  block_time        bigint,
  transaction_index integer,
  succeeded         boolean,
  created_at        timestamptz not null default now(),
  unique (account, nonce),
  check ((block_number is null) = (mined_hash is null) and (block_number is null) = (block_hash is null)),
  check (block_number is not null or status in ('signed', 'submitted', 'failed'))
);
create index outgoing_transactions_open on outgoing_transactions (account, nonce)
  where status in ('signed', 'submitted');
create index outgoing_transactions_unsettled on outgoing_transactions (status, block_number)
  where status in ('mined', 'confirmed');
create index outgoing_transactions_by_block on outgoing_transactions (block_number) where block_number is not null;

-- Every signed form of it: the first, those with a higher fee, and the no-op that may take its place.
create table outgoing_attempts (
  transaction_id     bigint      not null references outgoing_transactions,
  number             integer     not null,
  hash               bytea       not null unique check (length(hash) = 32),
  raw                bytea       not null,
  max_fee_wei        numeric(78) not null,
  priority_fee_wei   numeric(78) not null,
  no_op              boolean     not null default false,
  created_at         timestamptz not null default now(),
  -- First and last given to a node; null again after a reorg, so that it is sent at once.
  first_broadcast_at timestamptz,
  broadcast_at       timestamptz,
  primary key (transaction_id, number)
);

-- What is read: blocks linked by hash. Old ones without anything of ours are dropped.
create table chain_blocks (
  number       bigint  primary key check (number >= 0),
  hash         bytea   not null check (length(hash) = 32),
  parent_hash  bytea   not null check (length(parent_hash) = 32),
  time_seconds bigint  not null,
  -- Has a transaction of a vault.
  kept         boolean not null default false
);
create index chain_blocks_by_time on chain_blocks (time_seconds, number);
create index chain_blocks_to_drop on chain_blocks (number) where not kept;

create table chain_reorgs (
  id          bigint      generated always as identity primary key,
  -- The last block that stayed.
  fork_number bigint      not null,
  old_head    bigint      not null,
  at          timestamptz not null default now()
);

-- Transactions from or to a vault, and those that anchored something of it.
create table vault_transactions (
  workspace_id      text collate "C" not null,
  vault_id          text collate "C" not null,
  block_number      bigint           not null,
  transaction_index integer          not null,
  hash              bytea            not null check (length(hash) = 32),
  -- As they are answered, in EIP-55 form: hashed once when they are stored, and not a hundred times for each page.
  from_address      text             not null check (from_address ~ '^0x[0-9a-fA-F]{40}$'),
  to_address        text             not null check (to_address ~ '^0x[0-9a-fA-F]{40}$'),
  value_wei         numeric(78)      not null check (value_wei >= 0),
  time_seconds      bigint           not null,
  primary key (workspace_id, vault_id, block_number, transaction_index)
);
create unique index vault_transactions_by_hash on vault_transactions (vault_id, hash);
create index vault_transactions_by_block on vault_transactions using brin (block_number);

-- Where a transaction stood before a reorg took it away: a cursor that names it still finds its way.
create table vault_transactions_undone (
  vault_id          text collate "C" not null,
  hash              bytea            not null,
  reorg_id          bigint           not null references chain_reorgs,
  block_number      bigint           not null,
  transaction_index integer          not null,
  primary key (vault_id, hash, reorg_id)
);
create index vault_transactions_undone_by_reorg on vault_transactions_undone (vault_id, reorg_id);
-- The indexer asks by address alone, whoever owns the vault.
create index vaults_by_address_alone on vaults (lower(address));

-- One transaction on chain for all that was pending.
create table anchor_batches (
  id               bigint      generated always as identity primary key,
  root             bytea       not null check (length(root) = 32),
  size             integer     not null check (size > 0),
  outgoing_id      bigint      not null references outgoing_transactions,
  status           text        not null default 'batched'
    check (status in ('batched', 'submitted', 'confirmed', 'finalized', 'set_aside')),
  -- Why it was set aside, or has to be sent once more.
  reason           text,
  -- Its last transaction reverted, and a new one has yet to be made for it; how many it has had.
  to_resend        boolean     not null default false,
  sends            integer     not null default 1,
  transaction_hash bytea,
  block_number     bigint,
  block_hash       bytea,
  block_time       bigint,
  -- Leaves, by place, whose confirmation was written as events.
  announced        integer     not null default 0,
  created_at       timestamptz not null default now(),
  confirmed_at     timestamptz,
  check ((status in ('confirmed', 'finalized')) = (block_number is not null))
);
create index anchor_batches_by_outgoing on anchor_batches (outgoing_id);
create index anchor_batches_to_resend on anchor_batches (id) where to_resend;
create index anchor_batches_open on anchor_batches (status) where status <> 'finalized';
create index anchor_batches_to_announce on anchor_batches (id) where status in ('confirmed', 'finalized') and announced < size;

-- A vault's part of a batch, with the seal over it.
create table anchor_subtrees (
  batch_id     bigint           not null references anchor_batches,
  workspace_id text collate "C" not null,
  vault_id     text collate "C" not null,
  root         bytea            not null check (length(root) = 32),
  -- 32 bytes each, in the order of their places.
  leaves       bytea            not null,
  -- Place of the first one in the batch.
  first_place  integer          not null,
  sequence     bigint           not null check (sequence > 0),
  signature    bytea            not null check (length(signature) = 65),
  -- From the subtree's root up to the batch's.
  upper_path   bytea            not null,
  primary key (batch_id, vault_id),
  -- Two roots under one number would prove that the vault told two stories.
  unique (vault_id, sequence)
);

-- What is anchored: one leaf for one version of one thing. Without a batch it is pending; else its state is its batch's.
create table anchor_leaves (
  id            bigint           generated always as identity primary key,
  workspace_id  text collate "C" not null,
  kind          text             not null,
  subject_id    text collate "C" not null,
  version       integer          not null,
  vault_id      text collate "C" not null,
  digest        bytea            not null check (length(digest) = 32),
  -- Of the same subject.
  previous_leaf bytea            not null check (length(previous_leaf) = 32),
  -- JSON; null once the content was erased. The hash stays: it is part of the leaf.
  claims        text,
  claims_hash   bytea            not null check (length(claims_hash) = 32),
  leaf          bytea            not null check (length(leaf) = 32),
  batch_id      bigint references anchor_batches,
  place         integer,
  created_at    timestamptz      not null default now(),
  unique (workspace_id, subject_id, kind, version),
  check ((batch_id is null) = (place is null))
);
create index anchor_leaves_pending on anchor_leaves (id) where batch_id is null;
create unique index anchor_leaves_of_batch on anchor_leaves (batch_id, place) where batch_id is not null;

create table records (
  -- The vault is looked up in it. A reference would be checked row by row: a third of what an insert costs.
  workspace_id text collate "C" not null,
  id           text collate "C" not null,
  version      integer          not null,
  external_id  text,
  vault_id     text collate "C" not null,
  -- RFC 8785 form of the data.
  data         text             not null,
  salt         bytea            not null check (length(salt) = 32),
  data_hash    bytea            not null check (length(data_hash) = 32),
  -- The newest version; lists show these.
  current      boolean          not null default true,
  created_at   timestamptz      not null default now(),
  primary key (workspace_id, id, version)
);
create index records_by_vault on records (workspace_id, vault_id, id) where current;
create index records_by_external_id on records (workspace_id, external_id, id) where current and external_id is not null;
