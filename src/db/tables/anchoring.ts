/** Batches and leaves, those of records with their data. */
import type { Generated } from 'kysely';
import type { NullableTimestamp, Timestamp } from './columns.ts';

export interface AnchoringTables {
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
    evidence_root: Buffer;
    head_path: Buffer;
    inclusion_header: Buffer | null;
    inclusion_index: number | null;
    inclusion_nodes: Buffer[] | null;
    inclusion_refused: string | null;
    stamped: Generated<boolean>;
    awaits_token: Generated<boolean>;
  };
  evidence: {
    head_batch_id: number;
    position: number;
    sha256: Buffer;
    timestamp_id: number | null;
    root_batch_id: number | null;
  };
  anchor_subtrees: {
    batch_id: number;
    workspace_id: string;
    vault_id: string;
    root: Buffer;
    leaves: Buffer;
    first_place: number;
    /** A uint64. */
    sequence: string;
    previous_seal: Buffer;
    signature: Buffer;
    seal_id: Buffer;
    upper_path: Buffer;
    ids: Buffer;
  };
  anchor_leaves: {
    id: Generated<number>;
    workspace_id: string;
    kind: string;
    subject_id: string;
    version: number;
    vault_id: string;
    digest: Buffer;
    canonicalization: 'raw' | 'jcs' | 'hmac-sha256';
    previous_leaf: Buffer;
    claims: string | null;
    claims_hash: Buffer;
    leaf: Buffer;
    created_at: Timestamp;
    written_in: Generated<number>;
    stored_bytes: Generated<number>;
    first_anchored_time: number | null;
    announced_before: Generated<boolean>;
    /** These three are of records only. */
    external_id: string | null;
    data: string | null;
    salt: Buffer | null;
    erased_at: NullableTimestamp;
  };
  /** A view: leaves with their batch and place, which are null while they are pending. */
  placed_leaves: {
    id: number;
    workspace_id: string;
    kind: string;
    subject_id: string;
    version: number;
    vault_id: string;
    digest: Buffer;
    canonicalization: 'raw' | 'jcs' | 'hmac-sha256';
    previous_leaf: Buffer;
    claims: string | null;
    claims_hash: Buffer;
    leaf: Buffer;
    created_at: Timestamp;
    written_in: number;
    stored_bytes: number;
    first_anchored_time: number | null;
    announced_before: boolean;
    batch_id: number | null;
    place: number | null;
  };
  anchor_places: {
    first_id: number;
    batch_id: number;
    places: number[];
  };
  anchor_waiting: {
    leaf_id: number;
  };
  anchor_positions: {
    number: number;
    cluster: number;
    seen: string;
    walked_id: number | null;
    end_id: number | null;
  };
  anchored_hours: {
    workspace_id: string;
    hour: Timestamp;
    leaves: number;
    delays_ms: number[];
    weights: number[];
  };
  anchored_hours_counted: {
    is_only: Generated<boolean>;
    until: Timestamp;
  };
  seal_epoch: {
    singleton: Generated<boolean>;
    epoch: number;
    start: Generated<number>;
  };
  leaf_renewal: {
    singleton: Generated<boolean>;
    last_id: number;
  };
  renewed_leaves: {
    old_leaf: Buffer;
    leaf: Buffer;
  };
  /** A view: the leaves of records, with their data. */
  records: {
    workspace_id: string;
    id: string;
    version: number;
    external_id: string | null;
    vault_id: string;
    /** These are null once the data was erased. */
    data: string | null;
    salt: Buffer | null;
    data_hash: Buffer;
    created_at: Timestamp;
    leaf_id: number;
    leaf: Buffer;
    claims: string | null;
    erased_at: NullableTimestamp;
  };
}
