-- A root that was anchored before is not logged again: then what counts is the transaction that logged it first. It may be
-- one that nobody here remembers, because it was sent before a restore, or by a node whose last commits were lost.
alter table outgoing_transactions
  add column earlier_hash         bytea check (length(earlier_hash) = 32),
  add column earlier_block_number bigint,
  add column earlier_block_hash   bytea check (length(earlier_block_hash) = 32),
  add column earlier_block_time   bigint,
  add check (num_nulls(earlier_hash, earlier_block_number, earlier_block_hash, earlier_block_time) in (0, 4)),
  add check (earlier_block_number <= block_number);

-- Nonces below this one were used by transactions that nobody here remembers: ours begin again with it.
alter table sender_accounts add column lost_below bigint not null default 0 check (lost_below <= next_nonce);

-- Up to where blocks count as final: no reorg below it is followed, unless an operator lowers it.
alter table chain add column final_number bigint not null default -1;
update chain set final_number = coalesce(
  (select max(block_number) from outgoing_transactions where status = 'finalized'), -1);
