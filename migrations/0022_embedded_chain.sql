-- What the execution of the journal's blocks gave: written in the commit of the block, and made again from the journal
-- whenever it is missing. The state is kept for the last 64 blocks.

create table embedded_chain_results (
  number            bigint  primary key references embedded_chain_blocks (number),
  gas_used          integer not null check (gas_used >= 0),
  base_fee_wei      numeric not null check (base_fee_wei >= 0),
  -- The root of the state after the block, which for block 0 is not that of its header.
  state_root        bytea   not null check (length(state_root) = 32),
  transactions_root bytea   not null check (length(transactions_root) = 32),
  receipts_root     bytea   not null check (length(receipts_root) = 32),
  -- One for each transaction: deflated RLP of sender, success, gas and logs.
  receipts          bytea[] not null
);

create table embedded_chain_transactions (
  -- In this order, and as small as they can be, for the sake of the row's size.
  number integer  not null,
  index  smallint not null,
  hash   bytea    primary key check (length(hash) = 32)
);

create unique index embedded_chain_blocks_hash on embedded_chain_blocks (hash);

-- The nodes of the state's tries and the code of contracts. The key begins with a part of the owner's hash, so that equal
-- nodes of two contracts are two rows.
create table embedded_chain_nodes (
  -- The block that made it last.
  since integer not null,
  key   bytea   primary key,
  value bytea   not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
-- Nodes are full of hashes: compression would only cost time.
alter table embedded_chain_nodes alter column value set storage external;

-- The nodes that a block replaced, until no kept state has them.
create table embedded_chain_replaced (
  number bigint  primary key,
  keys   bytea[] not null
);

-- The blocks up to this one were made by anvil. Its state may have accounts and slots that Ethereum's rules leave out: from
-- the first block in which it has, blocks keep the hash that the journal recorded, which cannot be computed again.
alter table embedded_chain
  add column recorded_until bigint not null default 0,
  add column recorded_from  bigint;
update embedded_chain
set recorded_until = coalesce((select max(number) from embedded_chain_blocks), 0)
where made_by like 'anvil%';
