/**
 * Checks what others vouch for: the items of heads, without gaps, give the root in the head; who is vouched for by them is
 * marked so; and the stored block of a batch shows its anchor.
 */
import { sql } from 'kysely';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { rowsPass } from '../../db/rows-pass.ts';
import { writtenNumbers } from '../../db/written-since.ts';
import { toHex, zeroHash } from '../../proof/hex.ts';
import { type Keccak, loadKeccak } from '../../proof/keccak.ts';
import { buildTree } from '../../proof/merkle.ts';
import type { Finding, Pass } from '../../runtime/check.ts';
import { evidenceLeavesOf } from './evidence-leaves.ts';
import { type IncludedBatch, inclusionFault } from './inclusion.check.ts';

interface Row extends IncludedBatch {
  id: number;
  evidence_root: Buffer;
  stamped: boolean;
  vouched: boolean;
}

interface Item {
  position: number;
  sha256: Buffer;
  /** Of what it names; null when that is missing. */
  expected: Buffer | null;
  timestamp_id: number | null;
  root_batch_id: number | null;
}

export function evidencePass(db: Db): Pass {
  let keccak: Keccak | undefined;
  return rowsPass<Row>({
    db,
    what: 'heads',
    table: 'anchor_batches',
    written: [writtenNumbers(db, { table: 'anchor_batches' })],
    key: [{ column: 'b.id', member: 'id' }],
    pageRows: 100,
    read: ({ where, end }) => sql<Row>`
      select b.id, b.root, b.size, b.block_number, b.block_hash, b.block_time, b.inclusion_header, b.inclusion_index,
        b.inclusion_nodes, (select registry from chain) as registry, (select submitter from chain) as submitter,
        b.evidence_root, b.stamped,
        exists (select from timestamps t where t.batch_id = b.id and t.kind = 'rfc3161')
        or exists (
          select from evidence e join timestamps t on t.batch_id = e.head_batch_id and t.kind = 'rfc3161'
          where e.root_batch_id = b.id) as vouched
      from anchor_batches b where ${where} ${end}`,
    async judge(rows) {
      keccak ??= await loadKeccak();
      const findings: Finding[] = [];
      for (const row of rows) findings.push(...(await judge(row, await readItems(db, row.id), keccak)));
      return findings;
    },
  });
}

async function readItems(db: Db, headBatchId: number): Promise<Item[]> {
  const { rows } = await sql<Item>`
    select e.position, e.sha256, coalesce(sha256(t.proof), sha256(b.root)) as expected, e.timestamp_id, e.root_batch_id
    from evidence e
    left join timestamps t on t.id = e.timestamp_id
    left join anchor_batches b on b.id = e.root_batch_id
    where e.head_batch_id = ${headBatchId} order by e.position`.execute(db);
  return rows;
}

const restore =
  'The rows were changed in the database, and proofs made from them fail: restore them from a backup.';

async function judge(row: Row, items: Item[], keccak: Keccak): Promise<Finding[]> {
  const { id: batch, stamped, vouched } = row;
  const findings: Finding[] = [];
  const find = (rule: string, ids: Finding['ids'], message: string) =>
    findings.push({ rule, ids: { batch, ...ids }, message, advice: restore });
  if (stamped !== vouched) {
    const [marked, who] = stamped ? ['stamped', 'no'] : ['not stamped', 'a'];
    find(
      'batch_stamped',
      {},
      `The batch ${batch} is marked as ${marked}, but ${who} timestamp authority vouches for it.`,
    );
  }
  const fault = inclusionFault(row);
  if (fault !== null) {
    find(
      'inclusion_wrong',
      {},
      `The block that is stored with batch ${batch} does not show its anchor: ${fault}.`,
    );
  }
  const gap = items.findIndex(({ position }, place) => position !== place);
  if (gap !== -1)
    find('evidence_gap', { position: gap }, `The head of batch ${batch} has no item ${gap}, but later ones.`);
  for (const { position, sha256, expected, timestamp_id, root_batch_id } of items) {
    if (expected?.equals(sha256)) continue;
    const what = timestamp_id === null ? `the root of batch ${root_batch_id}` : `timestamp ${timestamp_id}`;
    find('evidence_item', { position }, `Item ${position} of the head of batch ${batch} is not ${what}.`);
  }
  const leaves = await evidenceLeavesOf(items.map(({ sha256 }) => sha256));
  const root = items.length === 0 ? zeroHash : toHex(buildTree(leaves, keccak).root);
  if (root !== fromBytea(row.evidence_root)) {
    find('evidence_root', {}, `The head of batch ${batch} covers other items than those that are stored.`);
  }
  return findings;
}
