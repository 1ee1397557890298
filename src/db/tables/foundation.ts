/** Workspaces, keys, vaults, workers, events, the audit log and stored responses. */
import type { Generated, GeneratedAlways } from 'kysely';
import type { OwnLimits } from '../../runtime/budgets.ts';
import type { Json, NullableTimestamp, Timestamp } from './columns.ts';

export interface FoundationTables {
  workspaces: {
    id: string;
    name: string;
    slug: string;
    metadata: Json<Record<string, unknown>>;
    created_at: Timestamp;
    limits: Json<OwnLimits>;
    require_second_factor: Generated<boolean>;
  };
  budget_settings: {
    singleton: Generated<boolean>;
    limits: Json<OwnLimits>;
  };
  workspace_usage: {
    workspace_id: string;
    budget: 'stored_bytes' | 'anchors_per_day';
    day: string;
    number: GeneratedAlways<number>;
    is_total: Generated<boolean>;
    used: number;
  };
  api_keys: {
    workspace_id: string;
    id: string;
    name: string;
    hint: string;
    secret_hash: Buffer;
    scopes: string[];
    of_operator: Generated<boolean>;
    made_by: string | null;
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
    key_holder: 'service' | 'worker' | 'passkey';
    licences: Json<LicenceColumn[]>;
    user_id: string | null;
    identity: string | null;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  former_identities: {
    workspace_id: string;
    worker_id: string;
    identity: string;
    until: Timestamp;
  };
  identity_marks: {
    workspace_id: string;
    mark: string;
    worker_id: string;
  };
  events: {
    created_at: Timestamp;
    written_in: Generated<number>;
    workspace_id: string;
    id: string;
    type: string;
    envelope: string;
  };
  /** A view. */
  placed_events: {
    created_at: Timestamp;
    written_in: number;
    workspace_id: string;
    id: string;
    type: string;
    envelope: string;
    position: number | null;
  };
  clean_checks: {
    name: string;
    clean_until: Timestamp;
    full_at: Timestamp;
  };
  feed_jumps: {
    to_position: number;
    after_position: number;
    jumped_at: Timestamp;
  };
  event_segments: {
    first_position: number;
    last_position: number;
    workspace_id: string;
    id_start: string;
    ids: string[];
    types: string[];
  };
  event_positions: {
    number: number;
    cluster: number;
    seen: string;
    walked_workspace: string | null;
    walked_id: string | null;
    copied_until: number;
  };
  event_feed: {
    is_only: Generated<boolean>;
    generation: Generated<string>;
    began_at: Timestamp;
  };
  audit_entries: {
    at: Timestamp;
    written_in: Generated<number>;
    workspace_id: string;
    id: string;
    actor_kind: string;
    actor_id: string;
    action: string;
    target_id: string;
    request_id: string | null;
    details: Json<Record<string, unknown>>;
    digest: Buffer;
  };
  audit_segments: {
    workspace_id: string;
    first_sequence: number;
    count: number;
    first_id: Buffer;
    last_id: Buffer;
    ids: Buffer;
    hashes: Buffer;
    chained_at: Generated<Date>;
  };
  audit_positions: {
    number: GeneratedAlways<number>;
    cluster: number;
    seen: string;
    walked_workspace: string | null;
    walked_id: string | null;
  };
  idempotent_answers: {
    created_at: Timestamp;
    status: number;
    slot: Buffer;
    fingerprint: Buffer;
    made: Buffer | null;
    body: string | null;
  };
}

export interface LicenceColumn {
  scope: string;
  number: string;
  authority: string;
  expiresAt: string | null;
  category?: string | null;
  validFrom?: string | null;
  suspendedAt?: string | null;
}
