/** Assets, who may see and work on them, and where they are installed. */
import type { ColumnType, Generated } from 'kysely';
import type { NullableTimestamp, Timestamp } from './columns.ts';

export interface AssetTables {
  assets: {
    workspace_id: string;
    asset_id: string;
    vault_id: string;
    name: string;
    serial_number: Generated<string>;
    part_number: Generated<string>;
    metadata: Generated<string>;
    parent_asset_id: string | null;
    usage_hours: Generated<number>;
    usage_cycles: Generated<number>;
    version: Generated<number>;
    last_leaf: Buffer;
    transfer_id: string | null;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  asset_versions: {
    workspace_id: string;
    asset_id: string;
    version: number;
    vault_id: string;
    document: string;
    salt: Buffer;
    digest: Buffer;
    created_at: Timestamp;
  };
  asset_installations: {
    workspace_id: string;
    asset_id: string;
    number: number;
    parent_asset_id: string;
    installed_at: Timestamp;
    removed_at: NullableTimestamp;
    created_at: Timestamp;
  };
  stated_usages: {
    workspace_id: string;
    asset_id: string;
    version: number;
    stated_at: NullableTimestamp;
    hours: number;
    cycles: number;
  };
  asset_viewers: {
    workspace_id: string;
    asset_id: string;
    address: string;
    until: NullableTimestamp;
    created_at: Timestamp;
  };
  asset_workers: {
    workspace_id: string;
    asset_id: string;
    address: string;
    worker_id: string;
    created_at: Timestamp;
  };
  published_pages: {
    workspace_id: string;
    asset_id: string;
    id: string;
    vault_id: string;
    token_hash: Buffer;
    digital_link: string | null;
    choices: ColumnType<Record<string, unknown>, string, never>;
    entry_key: Buffer;
    until: Timestamp;
    created_at: Timestamp;
  };
  asset_access_log: {
    workspace_id: string;
    asset_id: string;
    id: Generated<number>;
    viewer: string;
    what: string;
    also: Generated<string[]>;
    target_id: string | null;
    allowed: boolean;
    actor_kind: string;
    actor_id: string;
    at: Timestamp;
  };
  asset_intervals: {
    workspace_id: string;
    asset_id: string;
    id: string;
    name: Generated<string>;
    kind: Generated<string>;
    every_days: number | null;
    every_months: number | null;
    every_hours: number | null;
    every_cycles: number | null;
    tolerance_days: number | null;
    tolerance_hours: number | null;
    tolerance_cycles: number | null;
    done_at: Timestamp;
    done_hours: number | null;
    done_cycles: number | null;
    due_then: ColumnType<Record<string, unknown> | null, string | null | undefined, string | null>;
    completed_by: string | null;
    version: Generated<number>;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
}
