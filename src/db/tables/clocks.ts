/** What timestamp authorities and Bitcoin vouch for. */
import type { Generated } from 'kysely';
import type { NullableTimestamp, Timestamp } from './columns.ts';

export interface ClockTables {
  timestamps: {
    id: Generated<number>;
    batch_id: number;
    kind: 'rfc3161' | 'opentimestamps';
    authority: string;
    proof: Buffer;
    certificate_hashes: Generated<Buffer[]>;
    crl_hashes: Generated<Buffer[]>;
    heights: Generated<number[]>;
    headers: Generated<Buffer[]>;
    complete: boolean;
    vouched_at: NullableTimestamp;
    valid_until: NullableTimestamp;
    covered: Generated<boolean>;
    renewed: Generated<boolean>;
    created_at: Timestamp;
  };
  timestamp_files: {
    sha256: Buffer;
    bytes: Buffer;
  };
  authority_requests: {
    authority: string;
    last_at: Timestamp;
    failures: number;
  };
}
