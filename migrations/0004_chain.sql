-- The journal of the embedded chain: what it was made from, and every block with its raw transactions. The chain node
-- keeps nothing that could not be made again from these two tables.

create table embedded_chain (
  -- One chain per database.
  singleton  boolean     primary key default true check (singleton),
  chain_id   bigint      not null check (chain_id > 0),
  -- The genesis file as it was given to the node at the first start, to the letter.
  genesis    text        not null,
  -- What the node called itself then; another version might make other hashes of the same blocks.
  made_by    text,
  created_at timestamptz not null default now()
);

create table embedded_chain_blocks (
  number            bigint  primary key check (number >= 0),
  hash              bytea   not null check (length(hash) = 32),
  parent_hash       bytea   not null check (length(parent_hash) = 32),
  timestamp_seconds bigint  not null check (timestamp_seconds >= 0),
  -- In the order of the block, as they were signed.
  transactions      bytea[] not null,
  parent_number     bigint  generated always as (nullif(number, 0) - 1) stored,
  created_at        timestamptz not null default now(),
  unique (number, hash),
  -- Blocks are linked by hash from the genesis on, whoever writes them: a second writer can never fork the journal.
  foreign key (parent_number, parent_hash) references embedded_chain_blocks (number, hash)
);
