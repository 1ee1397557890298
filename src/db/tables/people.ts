/** People who sign in, and their roles in workspaces. */
import type { Generated } from 'kysely';
import type { NullableTimestamp, Timestamp } from './columns.ts';

export type RoleColumn = 'owner' | 'admin' | 'developer' | 'viewer';

export type SignedInBy = 'password' | 'code' | 'backup code' | 'passkey' | 'provider';

export interface PeopleTables {
  users: {
    id: string;
    name: string;
    email: string;
    email_verified: Generated<boolean>;
    image: string | null;
    two_factor_enabled: Generated<boolean>;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  sessions: {
    id: string;
    user_id: string;
    token: string;
    expires_at: Timestamp;
    ip_address: string | null;
    user_agent: string | null;
    created_at: Timestamp;
    updated_at: Timestamp;
    signed_in_by: Generated<SignedInBy>;
    second_factor: Generated<boolean>;
    confirmed_at: Generated<Date>;
  };
  passkeys: {
    id: string;
    user_id: string;
    name: string;
    credential_id: Buffer;
    public_key: Buffer;
    counter: number;
    transports: string[];
    created_at: Timestamp;
    last_used_at: NullableTimestamp;
  };
  identities: {
    issuer: string;
    subject: string;
    user_id: string;
    created_at: Timestamp;
    gone_at: NullableTimestamp;
  };
  provider_sessions: {
    session_id: string;
    issuer: string;
    subject: string;
    tokens: Buffer;
    checked_at: Timestamp;
    tried_at: Timestamp;
    away_since: NullableTimestamp;
  };
  accounts: {
    id: string;
    user_id: string;
    account_id: string;
    provider_id: string;
    password: string | null;
    access_token: string | null;
    refresh_token: string | null;
    id_token: string | null;
    access_token_expires_at: NullableTimestamp;
    refresh_token_expires_at: NullableTimestamp;
    scope: string | null;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  verifications: {
    id: string;
    identifier: string;
    value: string;
    expires_at: Timestamp;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  two_factors: {
    id: string;
    user_id: string;
    secret: string;
    backup_codes: string;
    verified: Generated<boolean>;
    failed_verification_count: Generated<number>;
    locked_until: NullableTimestamp;
  };
  sign_in_failures: {
    who: string;
    failures: number;
    last_at: Timestamp;
    until: Timestamp;
  };
  members: {
    workspace_id: string;
    user_id: string;
    role: RoleColumn;
    created_at: Timestamp;
  };
  invitations: {
    workspace_id: string;
    id: string;
    email: string | null;
    role: RoleColumn;
    token_hash: Buffer;
    invited_by: string | null;
    expires_at: Timestamp;
    accepted_at: NullableTimestamp;
    revoked_at: NullableTimestamp;
    created_at: Timestamp;
  };
}
