/** Blocks as clients expect them. */
import { type Hex, keccak256, numberToHex } from 'viem';
import { blockGasLimit, emptyRoot, noRequests, randaoOf, zeroHash } from '../../engine/header-fields.ts';
import type { StoredBlock } from '../../results/results.store.ts';
import { blockSize } from './block-size.ts';
import { logsBloom } from './logs-bloom.ts';
import { minedTransaction } from './transaction-json.ts';

const noUncles = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';
export const zeroAddress: Hex = `0x${'00'.repeat(20)}`;

/** `whole`: with the transactions themselves, not just their hashes. */
export function blockJson(block: StoredBlock, { whole }: { whole: boolean }): object {
  const { number, transactions } = block;
  return {
    hash: block.hash,
    parentHash: block.parentHash,
    sha3Uncles: noUncles,
    miner: zeroAddress,
    // The state after block 0 has the accounts of the genesis, but its header does not say so.
    stateRoot: number === 0 ? emptyRoot : block.stateRoot,
    transactionsRoot: block.transactionsRoot,
    receiptsRoot: block.receiptsRoot,
    logsBloom: logsBloom(block.receipts.flatMap(({ logs }) => logs)),
    difficulty: '0x0',
    number: numberToHex(number),
    gasLimit: numberToHex(blockGasLimit),
    gasUsed: numberToHex(block.gasUsed),
    timestamp: numberToHex(block.timestampSeconds),
    extraData: '0x',
    mixHash: randaoOf(block),
    nonce: '0x0000000000000000',
    baseFeePerGas: numberToHex(block.baseFeeWei),
    withdrawalsRoot: emptyRoot,
    blobGasUsed: '0x0',
    excessBlobGas: '0x0',
    parentBeaconBlockRoot: zeroHash,
    requestsHash: noRequests,
    totalDifficulty: '0x0',
    size: numberToHex(blockSize(block)),
    uncles: [],
    withdrawals: [],
    transactions: transactions.map((raw, index) =>
      whole ? minedTransaction({ block, index }) : keccak256(raw),
    ),
  };
}
