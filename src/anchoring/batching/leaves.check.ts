/**
 * Checks every leaf: it is the hash of its fields, follows the previous leaf, was not batched before that one, is in one batch,
 * and is not forgotten.
 */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import { writtenNumbers } from '../../db/written-since.ts';
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
  /** Of another batch that it is in, too. */
  second_batch: number | null;
  /** It is in no batch, and no batcher will come across it. */
  forgotten: boolean;
  /** The leaf that `previous_leaf` names, among the leaves of the same subject. */
  previous: { version: number; kind: string; batch_id: number | null } | null;
}

export function leavesPass(db: Db): Pass {
  let keccak: Keccak | undefined;
  return rowsPass<Row>({
    db,
    what: 'leaves',
    table: 'anchor_leaves',
    written: [writtenNumbers(db, { table: 'anchor_leaves' })],
    key: [{ column: 'l.id', member: 'id' }],
    read: ({ where, end }) => sql<Row>`
      select l.id, l.workspace_id, l.kind, l.subject_id, l.version, l.vault_id, vault.address, l.digest, l.canonicalization, l.previous_leaf,
             l.claims, l.claims_hash, l.leaf, l.batch_id, previous.found as previous, second.batch_id as second_batch,
             l.batch_id is null and position.is_here
               and pg_visible_in_snapshot(l.written_in::text::xid8, position.seen)
               and (position.walked_id is null or l.id <= position.walked_id or l.id > position.end_id)
               and not exists (select from anchor_waiting w where w.leaf_id = l.id) as forgotten
      from placed_leaves l
      left join lateral (
        select o.batch_id from anchor_places o
        where o.first_id between l.id & -256 and l.id and o.places[(l.id - o.first_id + 1)::integer] >= 0
          and o.batch_id <> l.batch_id limit 1
      ) as second on true
      left join lateral (
        select p.seen, p.walked_id, p.end_id, p.cluster = here.system_identifier
          and pg_snapshot_xmax(p.seen) <= pg_snapshot_xmax(pg_current_snapshot()) as is_here
        from pg_control_system() as here, (select * from anchor_positions order by number desc limit 1) as p
      ) as position on true
      left join lateral (
        select v.address from vaults v where v.workspace_id = l.workspace_id and v.id = l.vault_id limit 1
      ) as vault on true
      left join lateral (
        select json_build_object('version', p.version, 'kind', p.kind, 'batch_id', p.batch_id) as found
        from placed_leaves p
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
  if (row.second_batch !== null) {
    find(
      'leaf_in_two_batches',
      `is in batch ${row.batch_id} and in batch ${row.second_batch}`,
      'Report this: the batcher must never do it.',
    );
  }
  if (row.forgotten) {
    find(
      'leaf_forgotten',
      'is in no batch and does not wait for one',
      'It would never be anchored. Report this. Delete the rows of anchor_positions: the batcher then looks through all leaves.',
    );
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
