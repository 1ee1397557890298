/**
 * The clocks of batches, as proofs have them: the anchor on the chain, timestamps, and the later batches whose heads cover
 * what would end otherwise.
 */
import { sql } from 'kysely';
import { fromBytea } from '../db/bytea.ts';
import type { Db } from '../db/database.ts';
import { toHex, zeroHash } from '../proof/hex.ts';
import { hashBytes } from '../proof/merkle.ts';
import type { Anchor, Renewal } from '../proof/verify/proof.ts';
import type { BatchThread } from './batching/batch-thread.ts';
import { evidenceLeavesOf } from './evidence/evidence-leaves.ts';

export interface BatchClocks {
  anchors: Anchor[];
  renewals: Renewal[];
}

export interface BatchClocksDeps {
  db: Db;
  thread: Pick<BatchThread, 'path' | 'keptPath'>;
}

/** Null for a batch that is not confirmed (any more). */
export type ReadClocks = (batchIds: number[]) => Promise<Map<number, BatchClocks>>;

/** As many as a document may have. */
const mostRenewals = 16;
/** The tree of a head with more items is kept for the next proof. */
const largeHead = 2_048;

export function createBatchClocks({ db, thread }: BatchClocksDeps): ReadClocks {
  return async (batchIds) => {
    const clocks = new Map<number, BatchClocks>();
    for (const batch of await readBatches(db, [...new Set(batchIds)])) {
      clocks.set(batch.id, { anchors: anchorsOf(batch), renewals: await renewalsOf(batch) });
    }
    return clocks;
  };

  async function renewalsOf(batch: BatchRow): Promise<Renewal[]> {
    if (!batch.stamped) return [];
    const renewals: Renewal[] = [];
    const containers: { place: number | null; batch: BatchRow }[] = [{ place: null, batch }];
    for (const container of containers) {
      for (const cover of await coversOf(db, container.batch)) {
        const [head] = await readBatches(db, [cover.head_batch_id]);
        if (!head || renewals.length === mostRenewals) continue;
        renewals.push({
          covers: { renewal: container.place, anchor: cover.anchor },
          path: await evidencePath(head, cover.position),
          head: { evidenceRoot: fromBytea(head.evidence_root), logHead: zeroHash },
          proof: hashesOf(head.head_path),
          root: fromBytea(head.root),
          size: head.size,
          anchors: anchorsOf(head),
        });
        containers.push({ place: renewals.length - 1, batch: head });
      }
    }
    return renewals;
  }

  async function evidencePath(head: BatchRow, position: number): Promise<`0x${string}`[]> {
    const tree = `evidence ${fromBytea(head.evidence_root)}`;
    const kept = await thread.keptPath({ tree, leaf: position });
    if (kept) return hashesOf(kept);
    const rows = await db
      .selectFrom('evidence')
      .select('sha256')
      .where('head_batch_id', '=', head.id)
      .orderBy('position')
      .execute();
    if (rows.length === 1) return [];
    const leaves = await evidenceLeavesOf(rows.map(({ sha256 }) => sha256));
    return hashesOf(
      await thread.path({ leaves, leaf: position, ...(rows.length > largeHead && { keepAs: tree }) }),
    );
  }
}

interface BatchRow {
  id: number;
  root: Buffer;
  size: number;
  stamped: boolean;
  evidence_root: Buffer;
  head_path: Buffer;
  transaction_hash: Buffer;
  block_number: number;
  block_hash: Buffer;
  block_time: number;
  inclusion_header: Buffer | null;
  inclusion_index: number | null;
  inclusion_nodes: Buffer[] | null;
  chain_id: number;
  registry: Buffer;
  submitter: Buffer;
  timestamps: TimestampRow[];
}

interface TimestampRow {
  id: number;
  kind: 'rfc3161' | 'opentimestamps';
  renewed: boolean;
  valid_until: Date | null;
  proof: Buffer;
  certificates: Buffer[];
  crls: Buffer[];
  heights: number[];
  headers: Buffer[];
}

/** The confirmed ones among them. */
async function readBatches(db: Db, ids: number[]): Promise<BatchRow[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<Omit<BatchRow, 'timestamps'>>`
    select b.id, b.root, b.size, b.stamped, b.evidence_root, b.head_path, b.transaction_hash, b.block_number,
      b.block_hash, b.block_time, b.inclusion_header, b.inclusion_index, b.inclusion_nodes, c.chain_id, c.registry,
      c.submitter
    from anchor_batches b join chain c on c.singleton
    where b.id = any(${ids}::bigint[]) and b.status in ('confirmed', 'finalized')`.execute(db);
  const { rows: timestamps } = await sql<TimestampRow & { batch_id: number }>`
    select batch_id, id, kind, renewed, valid_until, proof, certificates, crls, heights, headers from timestamps
    where batch_id = any(${ids}::bigint[]) and complete order by id`.execute(db);
  const byBatch = Map.groupBy(timestamps, ({ batch_id }) => batch_id);
  return rows.map((row) => ({ ...row, timestamps: byBatch.get(row.id) ?? [] }));
}

/** The place of a timestamp among the anchors: the first one is that of the chain. */
const firstTimestamp = 1;

function anchorsOf(batch: BatchRow): Anchor[] {
  const { inclusion_header, inclusion_index, inclusion_nodes } = batch;
  const isIncluded = inclusion_header !== null && inclusion_index !== null && inclusion_nodes !== null;
  return [
    {
      type: 'evm',
      chainId: batch.chain_id,
      contract: fromBytea(batch.registry),
      submitter: fromBytea(batch.submitter),
      transactionHash: fromBytea(batch.transaction_hash),
      blockNumber: batch.block_number,
      blockHash: fromBytea(batch.block_hash),
      blockTime: batch.block_time,
      inclusion: isIncluded
        ? {
            header: fromBytea(inclusion_header),
            index: inclusion_index,
            nodes: inclusion_nodes.map(fromBytea),
          }
        : null,
    },
    ...batch.timestamps.map((row): Anchor => {
      if (row.kind === 'rfc3161') {
        const [token, certificates, crls] = [row.proof, row.certificates, row.crls];
        return {
          type: 'rfc3161',
          token: base64(token),
          certificates: certificates.map(base64),
          crls: crls.map(base64),
        };
      }
      const headers = row.heights.map((height, place) => ({
        height,
        header: fromBytea(row.headers[place] ?? Buffer.alloc(0)),
      }));
      return { type: 'opentimestamps', proof: base64(row.proof), headers };
    }),
  ];
}

interface Cover {
  head_batch_id: number;
  position: number;
  /** The anchor that is covered; null: the root. */
  anchor: number | null;
}

/** A batch without a token of its own is covered by its root; a token that ends, by the one that ends last. */
async function coversOf(db: Db, batch: BatchRow): Promise<Cover[]> {
  const tokens = batch.timestamps.flatMap((row, place) => (row.kind === 'rfc3161' ? [{ row, place }] : []));
  if (tokens.length === 0) {
    const { rows } = await sql<Omit<Cover, 'anchor'>>`
      select e.head_batch_id, e.position from evidence e
      where e.root_batch_id = ${batch.id} and exists (
        select from timestamps t where t.batch_id = e.head_batch_id and t.kind = 'rfc3161')
      order by e.head_batch_id limit 1`.execute(db);
    return rows.map((row) => ({ ...row, anchor: null }));
  }
  const covers: Cover[] = [];
  for (const { row, place } of tokens.filter(({ row }) => row.renewed)) {
    const { rows } = await sql<Omit<Cover, 'anchor'>>`
      select e.head_batch_id, e.position from evidence e
      join timestamps t on t.batch_id = e.head_batch_id
      where e.timestamp_id = ${row.id} and t.valid_until > ${row.valid_until}
      order by t.valid_until desc, e.head_batch_id limit 1`.execute(db);
    covers.push(...rows.map((found) => ({ ...found, anchor: firstTimestamp + place })));
  }
  return covers;
}

function hashesOf(path: Uint8Array): `0x${string}`[] {
  return Array.from({ length: path.length / hashBytes }, (_, place) =>
    toHex(path.subarray(place * hashBytes, (place + 1) * hashBytes)),
  );
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64');
}
