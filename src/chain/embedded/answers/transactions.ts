/** Transactions, whether they are in a block or wait for one, and their receipts. */
import type { Hex } from 'viem';
import { receiptJson } from './formats/receipt-json.ts';
import { minedTransaction, type Place, waitingTransaction } from './formats/transaction-json.ts';
import { findBlock, readBlockNumber } from './named-blocks.ts';
import type { Asked, Methods } from './needs.ts';
import { readData, readHash, readQuantity } from './parameters.ts';

export const sendsTransaction = 'eth_sendRawTransaction';

export const transactionMethods: Methods = {
  [sendsTransaction]: {
    most: 1,
    handle: ({ needs, params, own }) => needs.pool.add(readData(params[0], 'the raw transaction'), { own }),
  },
  eth_getTransactionByHash: {
    most: 1,
    async handle(asked) {
      const { mined, waiting } = await find(asked);
      if (mined) return minedTransaction(mined);
      return waiting && waitingTransaction(waiting);
    },
  },
  eth_getRawTransactionByHash: {
    most: 1,
    async handle(asked) {
      const { mined, waiting } = await find(asked);
      return (mined ? mined.block.transactions[mined.index] : waiting?.raw) ?? null;
    },
  },
  eth_getTransactionReceipt: {
    most: 1,
    async handle(asked) {
      const { mined } = await find(asked);
      return mined && receiptJson(mined);
    },
  },
  eth_getTransactionByBlockHashAndIndex: {
    most: 2,
    handle: (asked) => atIndex(asked, (value) => ({ hash: readHash(value, 'the hash of the block') })),
  },
  eth_getTransactionByBlockNumberAndIndex: { most: 2, handle: (asked) => atIndex(asked, readBlockNumber) },
};

interface Found {
  mined: Place | null;
  waiting: { raw: Hex; from: Hex } | null;
}

/** The pool first: a transaction leaves it only after its block was stored, so it is never in neither. */
async function find({ needs, params }: Asked): Promise<Found> {
  const hash = readHash(params[0], 'the hash of the transaction');
  const waiting = needs.pool.find(hash);
  const place = await needs.results.transaction(hash);
  const block = place && (await needs.results.block(place.number));
  return { mined: place && block && { block, index: place.index }, waiting };
}

async function atIndex(
  { needs, params }: Asked,
  read: (value: unknown) => ReturnType<typeof readBlockNumber>,
): Promise<object | null> {
  const name = read(params[0]);
  const index = readQuantity(params[1], 'the index');
  const block = await findBlock(name, needs.results);
  return block && minedTransaction({ block, index });
}
