/** The clocks of one batch as the anchors of a document: its transaction on the chain, and its timestamps. */
import { sql } from 'kysely';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import type { Anchor } from '../../proof/verify/proof.ts';
import { fittingCrls, mostCrlBytes, readFiles } from './timestamp-files.ts';

export interface ClockedBatch {
  id: number;
  root: Buffer;
  size: number;
  stamped: boolean;
  evidence_root: Buffer;
  head_path: Buffer;
  /** Null while it is in no block. */
  block: { transaction_hash: Buffer; number: number; hash: Buffer; time: number } | null;
  inclusion_header: Buffer | null;
  inclusion_index: number | null;
  inclusion_nodes: Buffer[] | null;
  chain_id: number;
  registry: Buffer;
  submitter: Buffer;
  /** In the order of the anchors. */
  timestamps: TimestampRow[];
}

interface TimestampRow {
  id: number;
  kind: 'rfc3161' | 'opentimestamps';
  proof: Buffer;
  certificate_hashes: Buffer[];
  crl_hashes: Buffer[];
  heights: number[];
  headers: Buffer[];
}

interface BatchRow extends Omit<ClockedBatch, 'block' | 'timestamps'> {
  transaction_hash: Buffer | null;
  block_number: number | null;
  block_hash: Buffer | null;
  block_time: number | null;
}

export async function readBatches(db: Db, ids: readonly number[]): Promise<ClockedBatch[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<BatchRow>`
    select b.id, b.root, b.size, b.stamped, b.evidence_root, b.head_path, b.transaction_hash, b.block_number,
      b.block_hash, b.block_time, b.inclusion_header, b.inclusion_index, b.inclusion_nodes, c.chain_id, c.registry,
      c.submitter
    from anchor_batches b join chain c on c.singleton
    where b.id = any(${[...ids]}::bigint[])`.execute(db);
  const { rows: timestamps } = await sql<TimestampRow & { batch_id: number }>`
    select batch_id, id, kind, proof, certificate_hashes, crl_hashes, heights, headers from timestamps
    where batch_id = any(${[...ids]}::bigint[]) and complete order by id`.execute(db);
  const byBatch = Map.groupBy(timestamps, ({ batch_id }) => batch_id);
  return rows.map((row) => ({ ...row, block: blockOf(row), timestamps: byBatch.get(row.id) ?? [] }));
}

function blockOf({
  transaction_hash,
  block_number,
  block_hash,
  block_time,
}: BatchRow): ClockedBatch['block'] {
  const isIn = transaction_hash && block_number !== null && block_hash && block_time !== null;
  return isIn ? { transaction_hash, number: block_number, hash: block_hash, time: block_time } : null;
}

/** Of a timestamp among the anchors of its batch: before the first one is that of the chain. */
export function anchorPlace({ block, timestamps }: ClockedBatch, timestampId: number): number {
  return (block ? 1 : 0) + timestamps.findIndex(({ id }) => id === timestampId);
}

export interface BatchAnchors {
  /** Reads what the timestamps of these batches have in common; each file once. */
  read(batches: readonly ClockedBatch[]): Promise<void>;
  /** The anchors of any number of these batches, for one document. */
  forDocument(): (batch: ClockedBatch) => Anchor[];
}

export function createBatchAnchors(db: Db): BatchAnchors {
  /** In base64, by the hex of their hashes. */
  const files = new Map<string, string>();

  const filesOf = (hashes: readonly Buffer[]) =>
    hashes.flatMap((hash) => files.get(hash.toString('hex')) ?? []);

  return {
    async read(batches) {
      const named = batches.flatMap(({ timestamps }) =>
        timestamps.flatMap(({ certificate_hashes, crl_hashes }) => [...certificate_hashes, ...crl_hashes]),
      );
      const missing = new Map(named.map((hash) => [hash.toString('hex'), hash]));
      for (const known of files.keys()) missing.delete(known);
      const found = await readFiles(db, [...missing.values()]);
      for (const [hash, bytes] of found) files.set(hash, base64(bytes));
    },
    forDocument() {
      // Base64 has four characters for three bytes.
      const room = (bytes: number) => Math.ceil(bytes / 3) * 4;
      let left = room(mostCrlBytes.perProof);
      return (batch) => [
        ...evmAnchors(batch),
        ...batch.timestamps.map((row): Anchor => {
          if (row.kind === 'opentimestamps') return otsAnchor(row);
          const crls = fittingCrls(filesOf(row.crl_hashes), Math.min(room(mostCrlBytes.perToken), left));
          for (const { length } of crls) left -= length;
          const certificates = filesOf(row.certificate_hashes);
          return { type: 'rfc3161', token: base64(row.proof), certificates, crls };
        }),
      ];
    },
  };
}

function evmAnchors(batch: ClockedBatch): Anchor[] {
  const { block, inclusion_header, inclusion_index, inclusion_nodes } = batch;
  if (!block) return [];
  const isIncluded = inclusion_header !== null && inclusion_index !== null && inclusion_nodes !== null;
  const inclusion = isIncluded
    ? { header: fromBytea(inclusion_header), index: inclusion_index, nodes: inclusion_nodes.map(fromBytea) }
    : null;
  return [
    {
      type: 'evm',
      chainId: batch.chain_id,
      contract: fromBytea(batch.registry),
      submitter: fromBytea(batch.submitter),
      transactionHash: fromBytea(block.transaction_hash),
      blockNumber: block.number,
      blockHash: fromBytea(block.hash),
      blockTime: block.time,
      inclusion,
    },
  ];
}

function otsAnchor({ proof, heights, headers }: TimestampRow): Anchor {
  return {
    type: 'opentimestamps',
    proof: base64(proof),
    headers: heights.map((height, place) => ({
      height,
      header: fromBytea(headers[place] ?? Buffer.alloc(0)),
    })),
  };
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64');
}
