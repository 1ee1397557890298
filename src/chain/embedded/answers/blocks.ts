/** Blocks, and what is counted in them. */
import { numberToHex } from 'viem';
import type { StoredBlock } from '../results/results.store.ts';
import { blockJson } from './formats/block-json.ts';
import { receiptsJson } from './formats/receipt-json.ts';
import { type BlockName, findBlock, headOf, readBlockName, readBlockNumber } from './named-blocks.ts';
import type { Asked, Methods } from './needs.ts';
import { optional, readBoolean, readHash, readQuantity } from './parameters.ts';

const byHash = (value: unknown): BlockName => ({ hash: readHash(value, 'the hash of the block') });
const byNumber = (value: unknown): BlockName => readBlockNumber(value);

export const blockMethods: Methods = {
  eth_blockNumber: {
    most: 0,
    handle: async ({ needs }) => numberToHex((await headOf(needs.results)).number),
  },
  eth_getBlockByHash: { most: 2, handle: (asked) => wholeBlock(asked, byHash) },
  eth_getBlockByNumber: { most: 2, handle: (asked) => wholeBlock(asked, byNumber) },
  eth_getBlockReceipts: { most: 1, handle: (asked) => ofBlock(asked, readBlockName, receiptsJson) },
  eth_getBlockTransactionCountByHash: { most: 1, handle: (asked) => ofBlock(asked, byHash, count) },
  eth_getBlockTransactionCountByNumber: { most: 1, handle: (asked) => ofBlock(asked, byNumber, count) },
  eth_getUncleByBlockHashAndIndex: { most: 2, handle: (asked) => uncle(asked, byHash) },
  eth_getUncleByBlockNumberAndIndex: { most: 2, handle: (asked) => uncle(asked, byNumber) },
  eth_getUncleCountByBlockHash: { most: 1, handle: (asked) => ofBlock(asked, byHash, () => '0x0') },
  eth_getUncleCountByBlockNumber: { most: 1, handle: (asked) => ofBlock(asked, byNumber, () => '0x0') },
};

type Read = (value: unknown) => BlockName;

/** Null if there is no such block. */
async function ofBlock<T>(
  { needs, params }: Asked,
  read: Read,
  answer: (block: StoredBlock) => T,
): Promise<T | null> {
  const block = await findBlock(read(params[0]), needs.results);
  return block && answer(block);
}

function wholeBlock(asked: Asked, read: Read): Promise<object | null> {
  const whole = optional(asked.params[1], readBoolean, 'the second parameter') ?? false;
  return ofBlock(asked, read, (block) => blockJson(block, { whole }));
}

function count({ transactions }: StoredBlock): string {
  return numberToHex(transactions.length);
}

/** No block has one. */
function uncle({ params }: Asked, read: Read): null {
  read(params[0]);
  readQuantity(params[1], 'the index');
  return null;
}
