/** Checks every leaf: it is the hash of its fields, follows the previous leaf, and was not batched before that one. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import { canonicalJson } from '../../proof/canonical.ts';
import type { Canonicalization } from '../../proof/content.ts';
import { type Keccak, loadKeccak } from '../../proof/keccak.ts';
import { leafHash, leafValues } from '../../proof/leaf.ts';
import type { Finding, Pass } from '../../runtime/check.ts';

interface Row {
  id: number;
  workspace_id: string;
  kind: string;
  subject_id: string;
  version: number;
  vault_id: string;
  address: string | null;
  digest: Buffer;
  canonicalization: Canonicalization;
  previous_leaf: Buffer;
  claims: string | null;
  claims_hash: Buffer;
  leaf: Buffer;
  batch_id: number | null;
  /** The leaf that `previous_leaf` names, among the leaves of the same subject. */
  previous: { version: number; kind: string; batch_id: number | null } | null;
}

export function leavesPass(db: Db): Pass {
  let keccak: Keccak | undefined;
  return rowsPass<Row>({
    db,
    what: 'leaves',
    table: 'anchor_leaves',
    key: [{ column: 'l.id', member: 'id' }],
    read: ({ where, end }) => sql<Row>`
      select l.id, l.workspace_id, l.kind, l.subject_id, l.version, l.vault_id, vault.address, l.digest, l.canonicalization, l.previous_leaf,
             l.claims, l.claims_hash, l.leaf, l.batch_id, previous.found as previous
      from anchor_leaves l
      left join lateral (
        select v.address from vaults v where v.workspace_id = l.workspace_id and v.id = l.vault_id limit 1
      ) as vault on true
      left join lateral (
        select json_build_object('version', p.version, 'kind', p.kind, 'batch_id', p.batch_id) as found
        from anchor_leaves p
        where p.workspace_id = l.workspace_id and p.subject_id = l.subject_id and p.leaf = l.previous_leaf limit 1
      ) as previous on true
      where ${where} ${end}`,
    async judge(rows) {
      keccak ??= await loadKeccak();
      const hashing = keccak;
      return rows.flatMap((row) => judge(row, hashing));
    },
  });
}

const restore =
  'The row was changed in the database, and proofs made from it fail: restore it from a backup.';
const firstLeaf = Buffer.alloc(32);

function judge(row: Row, keccak: Keccak): Finding[] {
  const { id: leaf, workspace_id: workspace, subject_id: subject, kind, version } = row;
  const name = `The leaf of ${kind} ${subject}, version ${version},`;
  const findings: Finding[] = [];
  const find = (rule: string, what: string, advice = restore) =>
    findings.push({
      rule,
      ids: { workspace, subject, kind, version, leaf },
      message: `${name} ${what}.`,
      advice,
    });

  if (row.claims !== null && !claimsDigest(row.claims)?.equals(row.claims_hash)) {
    find('claims_changed', 'has a claims hash that does not match its claims');
  }
  if (row.address === null) {
    find('leaf_without_vault', `belongs to vault ${row.vault_id}, which does not exist`);
  } else if (!hashOf(row, row.address, keccak).equals(row.leaf)) {
    find('leaf_changed', 'does not match its fields');
  }

  const { previous } = row;
  if (previous === null) {
    if (!row.previous_leaf.equals(firstLeaf))
      find('previous_leaf_missing', 'follows a leaf that is not stored');
    else if (kind === 'record' && version > 1)
      find('previous_leaf_wrong', 'follows no other leaf, although it is not the first one');
  } else if (previous.kind === kind && previous.version !== version - 1) {
    find('previous_leaf_wrong', `follows version ${previous.version}`);
  }
  const early =
    row.batch_id !== null && previous && (previous.batch_id ?? Number.POSITIVE_INFINITY) > row.batch_id;
  if (early) {
    find(
      'batched_before_predecessor',
      `was put into batch ${row.batch_id} before the leaf that it follows`,
      'Their anchors no longer prove the order of the two. Report this: the batcher must never do it.',
    );
  }
  return findings;
}

function hashOf(row: Row, vault: string, keccak: Keccak): Buffer {
  const values = leafValues(
    {
      kind: row.kind,
      canonicalization: row.canonicalization,
      digest: fromBytea(row.digest),
      subject: { workspaceId: row.workspace_id, id: row.subject_id },
      version: row.version,
      previousLeaf: fromBytea(row.previous_leaf),
      vault,
      claimsHash: fromBytea(row.claims_hash),
    },
    keccak,
  );
  return Buffer.from(leafHash(values, keccak));
}

/** Null when the claims are not JSON or have no canonical form. */
function claimsDigest(claims: string): Buffer | null {
  try {
    const canonical = canonicalJson(JSON.parse(claims), 'claims');
    return createHash('sha256').update(canonical).digest();
  } catch {
    return null;
  }
}
