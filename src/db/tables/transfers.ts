/** Transfers of files and assets from vault to vault. */
import type { NullableTimestamp, Timestamp } from './columns.ts';

export interface TransferTables {
  transfers: {
    workspace_id: string;
    id: string;
    subject_kind: 'file' | 'asset';
    subject_id: string;
    number: number;
    subject_version: number;
    from_vault_id: string;
    to_vault_id: string;
    completed_at: NullableTimestamp;
    created_at: Timestamp;
  };
}
