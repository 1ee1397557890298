/** Makes proofs from stored rows. */

import { sql } from 'kysely';
import type { Hex } from 'viem';
import { fromBytea } from '../db/bytea.ts';
import type { Db } from '../db/database.ts';
import type { Canonicalization } from '../proof/content.ts';
import { toHex } from '../proof/hex.ts';
import { plainKeccak } from '../proof/keccak.ts';
import { leafHash, leafTypes, leafValues } from '../proof/leaf.ts';
import { foldPath, hashBytes } from '../proof/merkle.ts';
import { type Proof, type ProofContent, proofFormat } from '../proof/verify/proof.ts';
import { AppError } from '../runtime/errors.ts';
import type { Archive } from './archive/archive.ts';
import { leavesOf } from './archive/archived-rows.ts';
import { type BatchClocks, type BatchClocksDeps, createBatchClocks } from './batch-clocks.ts';
import { joinPath } from './batching/batch.ts';
import { joinPlace } from './leaves/leaf-places.ts';
import { createSubtreePaths, type SubtreePathsDeps } from './subtree-paths.ts';

export interface ProofRequest {
  workspaceId: string;
  kind: string;
  subjectId: string;
  version: number;
  content: ProofContent;
}

export interface Proofs {
  /** Throws AppError conflict before the confirmation. */
  make(request: ProofRequest): Promise<Proof>;
}

/** The stored rows do not lead to what was anchored, so rows were changed. */
export class NotAsAnchored extends Error {
  constructor(subjectId: string) {
    super(`${subjectId} is not as it was anchored`);
    this.name = 'NotAsAnchored';
  }
}

export interface LeafColumns {
  digest: Buffer;
  canonicalization: Canonicalization;
  previous_leaf: Buffer;
  claims: string | null;
  claims_hash: Buffer;
  leaf: Buffer;
  place: number;
  vault: string;
}

export interface BatchColumns {
  root: Buffer;
  size: number;
  subtree_root: Buffer;
  leaves: Buffer;
  first_place: number;
  sequence: string;
  previous_seal: Buffer;
  signature: Buffer;
  seal_id: Buffer;
  upper_path: Buffer;
}

type ConfirmedRow = LeafColumns &
  Omit<BatchColumns, 'leaves'> & {
    batch_id: number;
    vault_id: string;
    /** Size of the subtree's leaves in bytes. */
    leaves_bytes: number;
    /** Null for a large subtree. */
    leaves: Buffer | null;
  };
type LeafRow = { digest: Buffer; confirmed: false } | ({ confirmed: true } & ConfirmedRow);
/** Everything a proof states apart from its lower path. */
type AssembledRow = LeafColumns & Omit<BatchColumns, 'leaves'> & { leaves_bytes: number };
type LeafKey = Omit<ProofRequest, 'content'>;

export interface ProofsDeps extends SubtreePathsDeps, BatchClocksDeps {
  /** Up to this size, the leaves of a subtree are read with each proof; the tree of a larger one is cached. */
  smallBytes?: number;
  /** Absent: nothing is archived. */
  archive?: Pick<Archive, 'find'>;
}

/** Building a tree of 2,048 leaves takes some milliseconds. */
const smallSubtreeBytes = 64 * 1024;

export function createProofs({ smallBytes = smallSubtreeBytes, archive, ...deps }: ProofsDeps): Proofs {
  const { db } = deps;
  const findPath = createSubtreePaths(deps);
  const readClocks = createBatchClocks(deps);
  /** Once more from the database in the end: the record may have come back meanwhile. */
  async function readArchivedLeaf(key: LeafKey): Promise<LeafRow | undefined> {
    if (key.kind !== 'record') return undefined;
    const text = await archive?.find(key.workspaceId, key.subjectId);
    return readLeaf(db, key, smallBytes, text ?? undefined);
  }
  const lowerPath = (row: ConfirmedRow) => findPath({ ...row, leaf: row.place - row.first_place });

  return {
    async make({ content, ...key }) {
      const row = (await readLeaf(db, key, smallBytes)) ?? (await readArchivedLeaf(key));
      if (!row)
        throw new AppError('resource_not_found', `There is no version ${key.version} of ${key.subjectId}.`);
      if (!row.confirmed) throw notConfirmed();
      const clocks = (await readClocks([row.batch_id])).get(row.batch_id);
      // A reorg has withdrawn the confirmation meanwhile.
      if (!clocks) throw notConfirmed();
      return assemble({ ...key, content }, row, { lower: await lowerPath(row), clocks });
    },
  };
}

export function notConfirmed(): AppError {
  return new AppError(
    'conflict',
    'It is not confirmed on the chain yet. Try again when its status is confirmed.',
  );
}

/** Throws NotAsAnchored when the stored rows are inconsistent: a proof that fails is worse than none. */
export function assemble(
  request: ProofRequest,
  row: AssembledRow,
  { lower, clocks }: { lower: Uint8Array; clocks: BatchClocks },
): Proof {
  const { workspaceId, kind, subjectId, version, content } = request;
  const subject = { workspaceId, id: subjectId };
  const values = leafValues({
    kind,
    canonicalization: row.canonicalization,
    digest: content.digest,
    subject,
    version,
    previousLeaf: fromBytea(row.previous_leaf),
    vault: row.vault,
    claimsHash: fromBytea(row.claims_hash),
  });
  const leaf = leafHash(values);
  const subtreeRoot = foldPath(leaf, lower, plainKeccak);
  const upper = joinPath({ lower: new Uint8Array(), sealId: row.seal_id, upper: row.upper_path });
  const root = foldPath(subtreeRoot, upper, plainKeccak);
  const fits =
    content.canonicalization === row.canonicalization &&
    row.leaf.equals(leaf) &&
    row.subtree_root.equals(subtreeRoot) &&
    row.root.equals(root);
  if (!fits) throw new NotAsAnchored(subjectId);
  return {
    format: proofFormat,
    kind,
    subject,
    content,
    claims: row.claims === null ? null : JSON.parse(row.claims),
    leaf: { types: leafTypes, values },
    merkle: {
      proof: [...hashesOf(lower), ...hashesOf(upper)],
      root: fromBytea(row.root),
      size: row.size,
    },
    seal: {
      vault: values[6],
      subtreeRoot: fromBytea(row.subtree_root),
      depth: lower.length / hashBytes,
      leaves: row.leaves_bytes / hashBytes,
      sequence: row.sequence,
      previousSeal: fromBytea(row.previous_seal),
      signature: fromBytea(row.signature),
    },
    ...clocks,
  };
}

function hashesOf(path: Uint8Array): Hex[] {
  return Array.from({ length: path.length / hashBytes }, (_, place) =>
    toHex(path.subarray(place * hashBytes, (place + 1) * hashBytes)),
  );
}

async function readLeaf(
  db: Db,
  { workspaceId, kind, subjectId, version }: LeafKey,
  smallBytes: number,
  archived?: string,
): Promise<LeafRow | undefined> {
  const source =
    archived === undefined
      ? sql`placed_leaves`
      : sql`(select l.*, placed.batch_id, placed.place from ${leavesOf(archived)} l ${sql.raw(joinPlace)})`;
  const { rows } = await sql<LeafRow>`
    select b.id is not null as confirmed, l.digest, l.canonicalization, l.previous_leaf, l.claims, l.claims_hash, l.leaf, l.place,
      v.address as vault, b.root, b.size,
      s.root as subtree_root, s.first_place, b.id as batch_id, l.vault_id, octet_length(s.leaves) as leaves_bytes,
      case when octet_length(s.leaves) <= ${smallBytes}::integer then s.leaves end as leaves, s.sequence, s.previous_seal, s.signature,
      s.seal_id, s.upper_path
    from ${source} l
    left join vaults v on v.workspace_id = l.workspace_id and v.id = l.vault_id
    left join anchor_batches b on b.id = l.batch_id and b.status in ('confirmed', 'finalized')
    left join anchor_subtrees s on s.batch_id = b.id and s.vault_id = l.vault_id
    where l.workspace_id = ${workspaceId} and l.subject_id = ${subjectId} and l.kind = ${kind}
      and l.version = ${version}`.execute(db);
  return rows[0];
}
