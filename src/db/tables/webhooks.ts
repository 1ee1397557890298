/** Endpoints, deliveries and replays. */
import type { Generated } from 'kysely';
import type { Json, NullableTimestamp, Timestamp } from './columns.ts';

interface CertificateColumn {
  subject: string;
  issuer: string;
  notAfter: string;
  fingerprint: string;
}

export interface WebhookTables {
  webhook_lines: {
    workspace_id: string;
    endpoint_id: string;
    position: number;
    until: NullableTimestamp;
  };
  webhook_endpoints: {
    workspace_id: string;
    id: string;
    url: string;
    description: string;
    event_types: string[];
    filter: string | null;
    filter_path: string | null;
    enabled: boolean;
    disabled_reason: 'owner' | 'gone' | 'failing' | null;
    rate_limit: number | null;
    ed25519: Generated<boolean>;
    public_key: string | null;
    header_names: Generated<string[]>;
    client_certificate: Json<CertificateColumn | null>;
    ordering: Generated<'none' | 'resource'>;
    failing_since: NullableTimestamp;
    last_failure_at: NullableTimestamp;
    revision: Generated<number>;
    deleted_at: NullableTimestamp;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  webhook_previous_secrets: {
    workspace_id: string;
    endpoint_id: string;
    id: string;
    until: Timestamp;
    public_key: string | null;
  };
  webhook_portal_links: {
    workspace_id: string;
    id: string;
    endpoint_id: string;
    token_hash: Buffer;
    description: string;
    may_change_url: boolean;
    may_manage_secret: boolean;
    created_at: Timestamp;
    expires_at: Timestamp;
    last_used_at: NullableTimestamp;
  };
  webhook_deliveries: {
    workspace_id: string;
    id: string;
    event_id: string;
    endpoint_id: string;
    type: string;
    status: 'pending' | 'succeeded' | 'failed' | 'skipped';
    attempt_count: Generated<number>;
    first_attempt: string | null;
    attempts: Json<object[]>;
    envelope: string | null;
    replay_id: string | null;
    created_at: Timestamp;
  };
  delivery_hours: {
    workspace_id: string;
    hour: Timestamp;
    succeeded: number;
    failed: number;
    skipped: number;
    pending: number;
    counted_at: Timestamp;
  };
  delivery_hours_counted: {
    is_only: Generated<boolean>;
    until: Timestamp;
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
    asleep: Generated<boolean>;
    resume_at: NullableTimestamp;
    manual_count: Generated<number>;
    late_ms: Generated<number>;
    resource: string | null;
    place: number | null;
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
    filter_path: string | null;
    state: Generated<'running' | 'completed' | 'cancelled'>;
    last_event_id: string;
    next_batch_at: Timestamp;
    total: number;
    enqueued: Generated<number>;
    created_at: Timestamp;
    finished_at: NullableTimestamp;
  };
}
