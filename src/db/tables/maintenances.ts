/** Maintenance entries, their sign-offs, and the dossiers that were exported. */
import type { Json, NullableTimestamp, Timestamp } from './columns.ts';

interface ActorColumn {
  kind: string;
  id: string;
}

export interface MaintenanceTables {
  maintenances: {
    workspace_id: string;
    id: string;
    asset_id: string;
    number: number;
    vault_id: string;
    worker_id: string;
    worker_address: string;
    worker_name: string;
    type: string;
    summary: string;
    performed_at: Timestamp;
    usage_hours: number | null;
    usage_cycles: number | null;
    supersedes: string | null;
    entry: string;
    salt: Buffer;
    hash: Buffer;
    created_at: Timestamp;
  };
  signoffs: {
    workspace_id: string;
    maintenance_id: string;
    number: number;
    role: 'performed' | 'inspected' | 'certified';
    worker_id: string;
    document: string;
    salt: Buffer;
    hash: Buffer;
    created_at: Timestamp;
  };
  worker_invitations: {
    workspace_id: string;
    id: string;
    worker_id: string;
    token_hash: Buffer;
    challenge: Buffer;
    invited_by: Json<{ invitedBy: string; invitedWith: string | null }>;
    expires_at: Timestamp;
    used_at: NullableTimestamp;
    created_at: Timestamp;
  };
  sign_requests: {
    workspace_id: string;
    id: string;
    token_hash: Buffer;
    asset_id: string;
    maintenance_id: string;
    worker_id: string;
    worker_address: string;
    role: 'performed' | 'inspected' | 'certified';
    fields: Json<Record<string, unknown>>;
    requested_by: Json<ActorColumn>;
    expires_at: Timestamp;
    created_at: Timestamp;
    withdrawn_at: Timestamp | null;
  };
  passkey_uses: {
    workspace_id: string;
    passkey_id: string;
    signed_at: Timestamp;
    counter: number;
  };
  worker_passkeys: {
    workspace_id: string;
    id: string;
    worker_id: string;
    state: 'unconfirmed' | 'unsigned' | 'active' | 'refused' | 'revoked';
    credential_id: Buffer;
    public_key: Buffer;
    rp_id: string;
    counter: number;
    made: Json<Record<string, unknown>>;
    number: number | null;
    hash: Buffer | null;
    created_at: Timestamp;
    token_hash: Buffer | null;
    token_expires_at: Timestamp | null;
  };
  passkey_statements: {
    workspace_id: string;
    worker_id: string;
    number: number;
    vault_id: string;
    passkey_id: string;
    document: string;
    salt: Buffer;
    hash: Buffer;
    created_at: Timestamp;
  };
  signoff_rules: {
    workspace_id: string;
    own_key: ('performed' | 'inspected' | 'certified')[];
    updated_at: Timestamp;
  };
  work_rules: {
    workspace_id: string;
    asset_id: string;
    type: string;
    scope: string;
    categories: string[];
    critical: boolean;
  };
  organisations: {
    workspace_id: string;
    name: string;
    address: string;
    authority: string;
    approval_number: string;
    regulation: string;
    updated_at: Timestamp;
  };
  dossiers: {
    workspace_id: string;
    id: string;
    asset_id: string;
    vault_id: string;
    entries: number;
    digest: Buffer;
    created_at: Timestamp;
  };
}
