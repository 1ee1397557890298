/** Anchors the head of each workspace's audit log once a day, so that not even the operator can rewrite it unnoticed. */
import { sql } from 'kysely';
import { findLinkContent, lastPlace } from '../../access/audit/audit-segments.ts';
import { firstLeaf, pendingLeaf } from '../../anchoring/batching/pending.ts';
import type { ProofRequest } from '../../anchoring/proofs.ts';
import { locks, tryWithLock } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import type { Proof } from '../../proof/verify/proof.ts';
import { AppError } from '../../runtime/errors.ts';

/** Also the minimum age of a workspace before its first leaf. */
const everySeconds = 24 * 60 * 60;
const workspacesAtOnce = 100;

interface HeadRow {
  workspace_id: string;
  sequence: number;
  hash: Buffer;
  version: number | null;
  leaf: Buffer | null;
  vault_id: string;
  address: string;
}

/** Makes the leaves that are due, on one node at a time; true when there may be more. The oldest vault seals them. */
export function anchorAuditHeads(db: Db): Promise<boolean | 'again'> {
  return tryWithLock(db, locks.auditAnchors, async (db) => {
    const { rows } = await sql<HeadRow>`
      select w.id as workspace_id, head.sequence, head.hash, last.version, last.leaf, v.id as vault_id, v.address
      from workspaces w
      cross join lateral (
        select ${lastPlace} from audit_segments s
        where s.workspace_id = w.id order by s.first_sequence desc limit 1
      ) as head
      cross join lateral (
        select id, address from vaults where workspace_id = w.id order by id limit 1
      ) as v
      left join lateral (
        select version, leaf, digest, created_at from anchor_leaves l
        where l.workspace_id = w.id and l.subject_id = w.id and l.kind = 'audit-log'
        order by version desc limit 1
      ) as last on true
      where coalesce(last.created_at, w.created_at) < now() - make_interval(secs => ${everySeconds})
        and last.digest is distinct from head.hash
      order by w.id limit ${workspacesAtOnce}`.execute(db);
    await insertAll(
      db,
      rows.map(
        (row) =>
          pendingLeaf({
            workspaceId: row.workspace_id,
            kind: 'audit-log',
            subjectId: row.workspace_id,
            version: (row.version ?? 0) + 1,
            vault: { id: row.vault_id, address: row.address },
            digest: row.hash,
            canonicalization: 'raw',
            previousLeaf: row.leaf ?? firstLeaf,
            claims: { sequence: row.sequence },
          }).write,
      ),
    );
    return rows.length === workspacesAtOnce;
  });
}

export interface AuditProof {
  /** Position in the audit chain of the entry whose hash is proved. */
  sequence: number;
  /** The 64 bytes whose SHA-256 is that hash: the previous hash and the digest of the entry. */
  content: Buffer;
  proof: Proof;
}

/** The newest confirmed proof. */
export async function proveAuditLog(
  db: Db,
  makeProof: (request: ProofRequest) => Promise<Proof>,
  workspaceId: string,
): Promise<AuditProof> {
  const { rows } = await sql<{ version: number; digest: Buffer; claims: string }>`
    select l.version, l.digest, l.claims from placed_leaves l join anchor_batches b on b.id = l.batch_id
    where l.workspace_id = ${workspaceId} and l.subject_id = ${workspaceId} and l.kind = 'audit-log'
      and b.status in ('confirmed', 'finalized')
    order by l.version desc limit 1`.execute(db);
  const [leaf] = rows;
  if (!leaf) {
    throw new AppError(
      'conflict',
      'The audit log has no confirmed anchor yet. It is anchored once a day, starting a day after the workspace was created, if there is a vault to seal it.',
    );
  }
  const { sequence } = JSON.parse(leaf.claims) as { sequence: number };
  const proof = await makeProof({
    workspaceId,
    kind: 'audit-log',
    subjectId: workspaceId,
    version: leaf.version,
    content: {
      algorithm: 'sha-256',
      digest: `0x${leaf.digest.toString('hex')}`,
      canonicalization: 'raw',
      salt: null,
    },
  });
  const content = (await findLinkContent(db, { workspaceId, sequence })) ?? Buffer.alloc(64);
  return { sequence, content, proof };
}
