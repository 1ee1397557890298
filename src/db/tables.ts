/** The tables as TypeScript sees them; a test holds this file against the migrated database. */
import type { ColumnType, Generated } from 'kysely';

/** Read as Date, written as Date or ISO text, filled by the database when left out. */
type Timestamp = ColumnType<Date, Date | string | undefined, Date | string>;
type NullableTimestamp = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
/** Inserted through writes.ts as its value; a Kysely update gives JSON text, because pg takes arrays for its own. */
type Json<T> = ColumnType<T, T | undefined, string>;

export interface Tables {
  workspaces: {
    id: string;
    name: string;
    slug: string;
    metadata: Json<Record<string, unknown>>;
    created_at: Timestamp;
  };
  api_keys: {
    workspace_id: string;
    id: string;
    name: string;
    hint: string;
    secret_hash: Buffer;
    scopes: string[];
    expires_at: NullableTimestamp;
    last_used_at: NullableTimestamp;
    revoked_at: NullableTimestamp;
    created_at: Timestamp;
  };
  master_keys: {
    version: number;
    check_value: Buffer;
    created_at: Timestamp;
  };
  secrets: {
    workspace_id: string;
    purpose: string;
    id: string;
    master_version: number;
    wrapped_data_key: Buffer;
    ciphertext: Buffer;
    created_at: Timestamp;
  };
  vaults: {
    workspace_id: string;
    id: string;
    name: string;
    description: string;
    address: string;
    status: Generated<'active' | 'inactive'>;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  workers: {
    workspace_id: string;
    id: string;
    name: string;
    address: string;
    key_holder: 'service' | 'worker';
    licences: Json<LicenceColumn[]>;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  events: {
    workspace_id: string;
    id: string;
    type: string;
    envelope: string;
    created_at: Timestamp;
    position: number | null;
  };
  webhook_endpoints: {
    workspace_id: string;
    id: string;
    url: string;
    description: string;
    event_types: string[];
    enabled: boolean;
    disabled_reason: 'owner' | 'gone' | 'failing' | null;
    rate_limit: number | null;
    failing_since: NullableTimestamp;
    previous_secret_until: NullableTimestamp;
    revision: Generated<number>;
    deleted_at: NullableTimestamp;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  webhook_deliveries: {
    workspace_id: string;
    id: string;
    event_id: string;
    endpoint_id: string;
    type: string;
    status: 'pending' | 'succeeded' | 'failed' | 'skipped';
    attempt_count: Generated<number>;
    attempts: Json<object[]>;
    envelope: string | null;
    replay_id: string | null;
    created_at: Timestamp;
  };
  webhook_queue: {
    workspace_id: string;
    delivery_id: string;
    created_at: Timestamp;
    event_id: string;
    endpoint_id: string;
    replay_id: string | null;
    retrying: Generated<boolean>;
    next_attempt_at: Timestamp;
    attempt_count: Generated<number>;
    first_attempt_at: NullableTimestamp;
    claim_id: string | null;
    claimed_by: number | null;
    lease_until: NullableTimestamp;
  };
  webhook_nodes: {
    id: number;
    started_at: Timestamp;
  };
  webhook_replays: {
    workspace_id: string;
    id: string;
    endpoint_id: string;
    from_time: Timestamp;
    to_time: Timestamp;
    status: string | null;
    types: string[];
    state: Generated<'running' | 'completed' | 'cancelled'>;
    last_event_id: string;
    next_batch_at: Timestamp;
    total: number;
    enqueued: Generated<number>;
    created_at: Timestamp;
    finished_at: NullableTimestamp;
  };
  audit_entries: {
    workspace_id: string;
    id: string;
    at: Timestamp;
    actor_kind: string;
    actor_id: string;
    action: string;
    target_id: string;
    request_id: string | null;
    details: Json<Record<string, unknown>>;
    digest: Buffer;
    sequence: number | null;
    hash: Buffer | null;
  };
  idempotent_answers: {
    workspace_id: string;
    method: string;
    path: string;
    key: string;
    fingerprint: Buffer;
    status: number;
    body: string | null;
    created_at: Timestamp;
  };
  embedded_chain: {
    singleton: Generated<boolean>;
    chain_id: number;
    genesis: string;
    made_by: string | null;
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
  };
  sender_accounts: {
    address: Buffer;
    next_nonce: number;
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
    from_address: Buffer;
    to_address: Buffer;
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
  anchor_batches: {
    id: Generated<number>;
    root: Buffer;
    size: number;
    outgoing_id: number;
    status: Generated<'batched' | 'submitted' | 'confirmed' | 'finalized' | 'set_aside'>;
    reason: string | null;
    to_resend: Generated<boolean>;
    sends: Generated<number>;
    transaction_hash: Buffer | null;
    block_number: number | null;
    block_hash: Buffer | null;
    block_time: number | null;
    announced: Generated<number>;
    created_at: Timestamp;
    confirmed_at: NullableTimestamp;
  };
  anchor_subtrees: {
    batch_id: number;
    workspace_id: string;
    vault_id: string;
    root: Buffer;
    leaves: Buffer;
    first_place: number;
    sequence: number;
    signature: Buffer;
    upper_path: Buffer;
  };
  anchor_leaves: {
    id: Generated<number>;
    workspace_id: string;
    kind: string;
    subject_id: string;
    version: number;
    vault_id: string;
    digest: Buffer;
    previous_leaf: Buffer;
    claims: string | null;
    claims_hash: Buffer;
    leaf: Buffer;
    batch_id: number | null;
    place: number | null;
    created_at: Timestamp;
  };
  records: {
    workspace_id: string;
    id: string;
    version: number;
    external_id: string | null;
    vault_id: string;
    data: string;
    salt: Buffer;
    data_hash: Buffer;
    current: Generated<boolean>;
    created_at: Timestamp;
  };
}

export interface LicenceColumn {
  scope: string;
  number: string;
  authority: string;
  expiresAt: string | null;
}
