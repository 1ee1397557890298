/** The chain: its journal, the transactions sent to it and the data read from it. */
import type { Generated } from 'kysely';
import type { NullableTimestamp, Timestamp } from './columns.ts';

export interface ChainTables {
  embedded_chain: {
    singleton: Generated<boolean>;
    chain_id: number;
    genesis: string;
    made_by: string | null;
    recorded_until: Generated<number>;
    recorded_from: Generated<number | null>;
    created_at: Timestamp;
  };
  embedded_chain_blocks: {
    number: number;
    hash: Buffer;
    parent_hash: Buffer;
    timestamp_seconds: number;
    transactions: Buffer[];
    parent_number: Generated<number | null>;
    created_at: Timestamp;
  };
  embedded_chain_results: {
    number: number;
    gas_used: number;
    base_fee_wei: string;
    state_root: Buffer;
    transactions_root: Buffer;
    receipts_root: Buffer;
    receipts: Buffer[];
  };
  embedded_chain_transactions: {
    hash: Buffer;
    number: number;
    index: number;
  };
  embedded_chain_nodes: {
    since: number;
    key: Buffer;
    value: Buffer;
  };
  embedded_chain_replaced: {
    number: number;
    keys: Buffer[];
  };
  leaders: {
    work: string;
    epoch: Generated<number>;
    backend_pid: number | null;
    beat_at: Timestamp;
  };
  chain: {
    singleton: Generated<boolean>;
    chain_id: number;
    genesis_hash: Buffer;
    embedded: boolean;
    registry: Buffer;
    submitter: Buffer;
    created_at: Timestamp;
    final_number: Generated<number>;
  };
  sender_accounts: {
    address: Buffer;
    next_nonce: number;
    lost_below: Generated<number>;
  };
  outgoing_transactions: {
    id: Generated<number>;
    account: Buffer;
    nonce: number;
    purpose: string;
    to_address: Buffer;
    call_data: Buffer;
    gas_limit: number;
    status: Generated<'signed' | 'submitted' | 'mined' | 'confirmed' | 'finalized' | 'failed'>;
    reason: string | null;
    mined_hash: Buffer | null;
    block_number: number | null;
    block_hash: Buffer | null;
    block_time: number | null;
    transaction_index: number | null;
    succeeded: boolean | null;
    created_at: Timestamp;
    earlier_hash: Buffer | null;
    earlier_block_number: number | null;
    earlier_block_hash: Buffer | null;
    earlier_block_time: number | null;
  };
  outgoing_attempts: {
    transaction_id: number;
    number: number;
    hash: Buffer;
    raw: Buffer;
    max_fee_wei: string;
    priority_fee_wei: string;
    no_op: Generated<boolean>;
    created_at: Timestamp;
    first_broadcast_at: NullableTimestamp;
    broadcast_at: NullableTimestamp;
  };
  chain_blocks: {
    number: number;
    hash: Buffer;
    parent_hash: Buffer;
    time_seconds: number;
    kept: Generated<boolean>;
  };
  chain_reorgs: {
    id: Generated<number>;
    fork_number: number;
    old_head: number;
    at: Timestamp;
  };
  vault_transactions: {
    workspace_id: string;
    vault_id: string;
    block_number: number;
    transaction_index: number;
    hash: Buffer;
    from_address: string;
    to_address: string;
    value_wei: string;
    time_seconds: number;
  };
  vault_transactions_undone: {
    vault_id: string;
    hash: Buffer;
    reorg_id: number;
    block_number: number;
    transaction_index: number;
  };
}
