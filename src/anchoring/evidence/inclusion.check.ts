/** Whether the block that is stored with a batch shows, without a node, that the batch is anchored in it. */
import { fromBytea } from '../../db/bytea.ts';
import { anchoredIn, readInclusion } from '../../proof/evm/inclusion.ts';

export interface IncludedBatch {
  root: Buffer;
  size: number;
  block_number: number | null;
  block_hash: Buffer | null;
  block_time: number | null;
  inclusion_header: Buffer | null;
  inclusion_index: number | null;
  inclusion_nodes: Buffer[] | null;
  /** Of the chain. */
  registry: Buffer | null;
  submitter: Buffer | null;
}

/** What is wrong with it; null if nothing is, or nothing is stored. */
export function inclusionFault(batch: IncludedBatch): string | null {
  const { inclusion_header: header, inclusion_index: index, inclusion_nodes: nodes } = batch;
  if (header === null || index === null || nodes === null) return null;
  const reading = readInclusion({ header: fromBytea(header), index, nodes: nodes.map(fromBytea) });
  if ('fault' in reading) return reading.fault;
  const { block_hash, block_number, block_time, registry, submitter } = batch;
  const isThis =
    block_hash !== null &&
    reading.blockHash === fromBytea(block_hash) &&
    reading.blockNumber === block_number &&
    reading.blockTime === block_time;
  if (!isThis) return 'it is another block';
  const anchor = {
    registry: fromBytea(registry ?? Buffer.alloc(20)),
    submitter: fromBytea(submitter ?? Buffer.alloc(20)),
    root: fromBytea(batch.root),
    size: batch.size,
  };
  return anchoredIn(reading, anchor) ? null : 'its transaction did not anchor the root';
}
