/** Files with their versions and validations, and the blobs of their bytes. */
import type { Generated } from 'kysely';
import type { NullableTimestamp, Timestamp } from './columns.ts';

export interface FileTables {
  blob_marker: {
    is_only: Generated<boolean>;
    id: string;
    written: Generated<boolean>;
  };
  blobs: {
    workspace_id: string;
    id: string;
    vault_id: string;
    content_hash: Buffer;
    size: number;
    erased_at: NullableTimestamp;
    created_at: Timestamp;
  };
  files: {
    workspace_id: string;
    id: string;
    vault_id: string;
    version: number;
    last_leaf: Buffer;
    transfer_id: string | null;
    created_at: Timestamp;
  };
  file_versions: {
    workspace_id: string;
    file_id: string;
    version: number;
    vault_id: string;
    name: string;
    media_type: string;
    size: number | null;
    canonicalization: 'raw' | 'hmac-sha256';
    content_hash: Buffer;
    blob_id: string | null;
    erased_at: NullableTimestamp;
    expiration_date: string | null;
    expires_at: NullableTimestamp;
    current: Generated<boolean>;
    created_at: Timestamp;
  };
  file_validations: {
    workspace_id: string;
    id: string;
    file_id: string;
    number: number | null;
    file_version: number;
    presented_hash: Buffer;
    vault_id: string | null;
    result: 'valid' | 'invalid' | null;
    integrity: boolean | null;
    authenticity: boolean | null;
    ownership: boolean | null;
    validated_at: NullableTimestamp;
    created_at: Timestamp;
  };
}
