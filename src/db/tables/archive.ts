/** Old records in files: where each one is, and its key. */
import type { Generated } from 'kysely';
import type { NullableTimestamp, Timestamp } from './columns.ts';

export interface ArchiveTables {
  archive_files: {
    number: Generated<number>;
    workspace_id: string;
    blob_id: string;
    size: number;
    before: Timestamp;
    written_at: Generated<Date>;
    empty_since: NullableTimestamp;
  };
  archive_parts: {
    number: Generated<number>;
    file: number;
    workspace_id: string;
    vault_id: string;
    first_id: string;
    last_id: string;
  };
  archived_records: {
    newest_at: Timestamp;
    part: number;
    at: number;
    bytes: number;
    data_bytes: number;
    id: string;
    key: Buffer;
  };
  archived_leaves: {
    block: number;
    /** 256 digits. */
    bits: string;
  };
}
