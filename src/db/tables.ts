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
    status: 'pending' | 'delivering' | 'succeeded' | 'failed' | 'skipped';
    open: boolean;
    retrying: Generated<boolean>;
    next_attempt_at: NullableTimestamp;
    first_attempt_at: NullableTimestamp;
    attempt_count: Generated<number>;
    attempts: Json<object[]>;
    claim_id: string | null;
    claimed_by: number | null;
    lease_until: NullableTimestamp;
    envelope: string | null;
    replay_id: string | null;
    created_at: Timestamp;
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
}

export interface LicenceColumn {
  scope: string;
  number: string;
  authority: string;
  expiresAt: string | null;
}
