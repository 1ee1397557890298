/** Steps that need a second person. */
import type { ColumnType, Generated } from 'kysely';
import type { Json, NullableTimestamp, Timestamp } from './columns.ts';
import type { RoleColumn } from './people.ts';

export interface ApprovalTables {
  approval_rules: {
    workspace_id: string;
    erase_content: Generated<boolean>;
    transfer: Generated<boolean>;
    wide_keys: Generated<boolean>;
    expires_after_hours: Generated<number>;
  };
  approvals: {
    workspace_id: string;
    id: string;
    step: string;
    subject_id: string | null;
    input: Json<Record<string, unknown>>;
    effect: Json<Record<string, unknown>>;
    role: RoleColumn;
    digest: Buffer;
    requested_kind: 'user' | 'api_key';
    requested_by: string;
    requested_person: string | null;
    requested_at: Timestamp;
    expires_at: Timestamp;
    status: Generated<'open' | 'approved' | 'refused' | 'withdrawn' | 'expired'>;
    decided_kind: string | null;
    decided_by: string | null;
    decided_at: NullableTimestamp;
    reason: string | null;
    result: ColumnType<Record<string, unknown> | null, undefined, string>;
    has_secret: Generated<boolean>;
  };
}
