/** Checks the audit log: every entry is unchanged, and in the chain of its workspace. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import type { Check, Finding } from '../../runtime/check.ts';
import { chainHash, type DigestedRow, entryDigest, firstHash } from './audit.ts';

interface Row extends DigestedRow {
  digest: Buffer;
  sequence: number | null;
  hash: Buffer | null;
  previous_hash: Buffer | null;
  late: boolean;
}

export function auditCheck(db: Db): Check {
  return {
    name: 'audit',
    passes: [
      rowsPass<Row>({
        db,
        what: 'audit entries',
        table: 'audit_entries',
        key: [
          { column: 'e.workspace_id', member: 'workspace_id' },
          { column: 'e.id', member: 'id' },
        ],
        read: ({ where, end }) => sql<Row>`
          select e.workspace_id, e.id, e.at, e.actor_kind, e.actor_id, e.action, e.target_id, e.request_id, e.details,
                 e.digest, e.sequence, e.hash, previous.hash as previous_hash, e.at < now() - interval '1 minute' as late
          from audit_entries e
          left join lateral (
            select p.hash from audit_entries p
            where p.workspace_id = e.workspace_id and p.sequence = e.sequence - 1 limit 1
          ) as previous on true
          where ${where} ${end}`,
        judge: (rows) => rows.flatMap(judge),
      }),
    ],
  };
}

function judge(row: Row): Finding[] {
  const { workspace_id: workspace, id: entry, sequence, hash } = row;
  const findings: Finding[] = [];
  const find = (rule: string, message: string, advice: string) =>
    findings.push({ rule, ids: { workspace, entry }, message, advice });
  if (!entryDigest(row).equals(row.digest)) {
    find(
      'audit_entry_changed',
      `The audit entry ${entry} does not match its digest.`,
      'Somebody changed the row in the database: compare it with a backup.',
    );
  }
  if (sequence === null || hash === null) {
    if (row.late) {
      find(
        'audit_entry_unchained',
        `The audit entry ${entry} is not in its hash chain after more than a minute.`,
        'Start the service if it is stopped; otherwise look for the loop audit-chain in /readyz and in the log.',
      );
    }
    return findings;
  }
  const previous = sequence === 1 ? firstHash : row.previous_hash;
  if (previous === null) {
    find(
      'audit_chain_gap',
      `The audit entry ${entry} is number ${sequence}, but there is no number ${sequence - 1}.`,
      'An entry was removed from the database: look for it in a backup.',
    );
  } else if (!chainHash(previous, row.digest).equals(hash)) {
    find(
      'audit_chain_broken',
      `The hash of audit entry ${entry}, number ${sequence}, does not follow from the previous entry.`,
      'An entry was changed, removed or inserted: compare this one and the previous one with a backup.',
    );
  }
  return findings;
}
