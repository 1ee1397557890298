/** Checks every batch: its transaction and block, and that it was built and sealed from its leaves. */
import { sql } from 'kysely';
import { encodeFunctionData } from 'viem';
import { registryAbi } from '../../chain/registry/registry.ts';
import { fromBytea } from '../../db/bytea.ts';
import type { Db } from '../../db/database.ts';
import { type AsOf, rowsPass, timeOf } from '../../db/rows-pass.ts';
import { writtenNumbers } from '../../db/written-since.ts';
import { type Keccak, loadKeccak } from '../../proof/keccak.ts';
import type { Finding, Pass } from '../../runtime/check.ts';
import { batchContentFindings } from './batch-content.check.ts';

interface Row {
  id: number;
  root: Buffer;
  size: number;
  evidence_root: Buffer;
  head_path: Buffer;
  status: string;
  to_resend: boolean;
  announced: number;
  transaction_hash: Buffer | null;
  block_number: number | null;
  block_hash: Buffer | null;
  block_time: number | null;
  outgoing_id: number;
  outgoing_status: string;
  to_address: Buffer;
  call_data: Buffer;
  mined_hash: Buffer | null;
  mined_number: number | null;
  mined_block_hash: Buffer | null;
  mined_time: number | null;
  registry: Buffer | null;
  stored_hash: Buffer | null;
  shared: boolean;
  unannounced: boolean;
}

export function batchesPass(db: Db, asOf?: AsOf): Pass {
  let keccak: Keccak | undefined;
  return rowsPass<Row>({
    db,
    what: 'batches',
    table: 'anchor_batches',
    written: [writtenNumbers(db, { table: 'anchor_batches' })],
    key: [{ column: 'b.id', member: 'id' }],
    // Each batch may have 100,000 leaves, which are read one batch at a time.
    pageRows: 50,
    read: ({ where, end }) => sql<Row>`
      select b.id, b.root, b.size, b.evidence_root, b.head_path, b.status, b.to_resend, b.announced, b.transaction_hash, b.block_number, b.block_hash,
             b.block_time, b.outgoing_id, t.status as outgoing_status, t.to_address, t.call_data,
             coalesce(t.earlier_hash, t.mined_hash) as mined_hash,
             coalesce(t.earlier_block_number, t.block_number) as mined_number,
             coalesce(t.earlier_block_hash, t.block_hash) as mined_block_hash,
             coalesce(t.earlier_block_time, t.block_time) as mined_time,
             (select registry from chain) as registry, block.hash as stored_hash,
             exists (
               select 1 from anchor_batches o where o.outgoing_id = b.outgoing_id and o.id <> b.id
             ) as shared,
             b.status in ('confirmed', 'finalized') and b.announced < b.size
               and b.confirmed_at < ${timeOf(asOf)} - interval '5 minutes' as unannounced
      from anchor_batches b
      join outgoing_transactions t on t.id = b.outgoing_id
      left join chain_blocks block on block.number = b.block_number
      where ${where} ${end}`,
    async judge(rows) {
      keccak ??= await loadKeccak();
      const findings: Finding[] = [];
      for (const row of rows) {
        findings.push(...judge(row), ...(await batchContentFindings(db, row, keccak)));
      }
      return findings;
    },
  });
}

const compare = 'The row was changed in the database: compare it with a backup.';

function judge(row: Row): Finding[] {
  const { id: batch, outgoing_id: outgoing, status } = row;
  const findings: Finding[] = [];
  const find = (rule: string, what: string, advice = compare) =>
    findings.push({ rule, ids: { batch, outgoing }, message: `The batch ${batch} ${what}.`, advice });

  if (row.shared) {
    find('batch_shares_transaction', `has the same outgoing transaction ${outgoing} as another batch`);
  }
  const call = encodeFunctionData({
    abi: registryAbi,
    functionName: 'anchor',
    args: [fromBytea(row.root), BigInt(row.size)],
  });
  if (fromBytea(row.call_data) !== call || (row.registry && !row.registry.equals(row.to_address))) {
    find('batch_transaction', `is sent by transaction ${outgoing}, which does not anchor its root and size`);
  }
  if (!agree(row)) {
    find(
      'batch_state',
      `is ${status}, but its transaction ${outgoing} is ${row.outgoing_status}, or in another block`,
    );
  }
  if (row.block_hash && !row.stored_hash?.equals(row.block_hash)) {
    find(
      'batch_off_chain',
      `is ${status} in block ${row.block_number}, ${row.stored_hash ? 'whose hash is different' : 'which is not stored'}`,
    );
  }
  if (row.announced > row.size)
    find('batch_announced', `has announced ${row.announced} of ${row.size} leaves`);
  if (row.unannounced) {
    find(
      'batch_unannounced',
      `has been ${status} for more than five minutes, but ${row.size - row.announced} of its leaves were not announced`,
      'Start the service if it is stopped; otherwise look for the loop of the announcer in /readyz and in the log.',
    );
  }
  return findings;
}

/** One commit updates both, so they always agree. */
function agree(row: Row): boolean {
  const { status, outgoing_status: outgoing } = row;
  if (status === 'confirmed' || status === 'finalized') {
    return (
      outgoing === status &&
      equal(row.transaction_hash, row.mined_hash) &&
      row.block_number === row.mined_number &&
      equal(row.block_hash, row.mined_block_hash) &&
      row.block_time === row.mined_time
    );
  }
  if (status === 'set_aside' || row.to_resend) return outgoing === 'failed';
  return outgoing === 'signed' || outgoing === 'submitted' || outgoing === 'mined';
}

function equal(one: Buffer | null, other: Buffer | null): boolean {
  return one === null || other === null ? one === other : one.equals(other);
}
