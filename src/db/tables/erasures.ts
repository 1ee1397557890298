/** What was erased, what must not be, and how long things are kept. */
import type { Generated } from 'kysely';
import type { NullableTimestamp, Timestamp } from './columns.ts';

export interface ErasureTables {
  release_holds: {
    workspace_id: string;
    file_id: string;
    version: number;
    maintenance_id: string;
    asset_id: string;
    created_at: Timestamp;
  };
  holds: {
    workspace_id: string;
    /** Of a vault, a file or a record. */
    subject_id: string;
    reason: string;
    placed_at: Timestamp;
  };
  erasures: {
    number: Generated<number>;
    workspace_id: string;
    kind: 'record' | 'file';
    subject_id: string;
    versions: number[];
    bytes: number;
    by_retention: boolean;
    erased_at: Timestamp;
    journalled: Generated<boolean>;
  };
  retention_rules: {
    workspace_id: string;
    vault_id: string;
    kind: 'record' | 'file';
    days: number;
    begins_at: Generated<string>;
    looked_at: Generated<string>;
    left_at: string | null;
    next_round_at: NullableTimestamp;
    erased: Generated<number>;
    erased_bytes: Generated<number>;
  };
}
