/** Fees: what the next block asks for, and what earlier ones asked for and got. */
import { type Hex, numberToHex } from 'viem';
import { blockGasLimit, nextBaseFee } from '../engine/header-fields.ts';
import type { StoredBlock } from '../results/results.store.ts';
import { blocksInPages } from './block-pages.ts';
import { failed, invalid } from './faults.ts';
import { decodeFields } from './formats/transaction-fields.ts';
import { effectivePrice } from './formats/transaction-json.ts';
import { headOf, numberOf, readBlockNumber } from './named-blocks.ts';
import type { Asked, Methods } from './needs.ts';
import { isAbsent, readList, readQuantity } from './parameters.ts';

const mostBlocks = 1_024;
const mostPercentiles = 100;
const usualTipWei = 1_000_000_000n;
const noBlobs: Hex = '0x1';

export const feeMethods: Methods = {
  eth_blobBaseFee: { most: 0, handle: () => noBlobs },
  eth_feeHistory: { most: 3, handle: feeHistory },
  eth_gasPrice: {
    most: 0,
    handle: async ({ needs }) => numberToHex(nextBaseFee(await headOf(needs.results)) + usualTipWei),
  },
  eth_maxPriorityFeePerGas: { most: 0, handle: () => numberToHex(usualTipWei) },
};

async function feeHistory({ needs, params }: Asked): Promise<object> {
  const count = Math.min(readCount(params[0]), mostBlocks);
  const name = readBlockNumber(params[1], 'the newest block');
  const percentiles = readPercentiles(params[2]);
  const head = await headOf(needs.results);
  const to = 'hash' in name ? head.number : numberOf(name, head);
  if (to > head.number) throw failed(`request beyond head block: requested ${to}, head ${head.number}`);
  const from = Math.max(to - count + 1, 0);
  const fees: Hex[] = [];
  const ratios: number[] = [];
  const rewards: Hex[][] = [];
  let next = 0n;
  for await (const block of blocksInPages({ from, to }, needs.results)) {
    fees.push(numberToHex(block.baseFeeWei));
    ratios.push(block.gasUsed / blockGasLimit);
    if (percentiles.length > 0) rewards.push(rewardsOf(block, percentiles));
    next = nextBaseFee(block);
  }
  return {
    oldestBlock: numberToHex(from),
    baseFeePerGas: [...fees, numberToHex(next)],
    gasUsedRatio: ratios,
    baseFeePerBlobGas: [...fees, next].map(() => noBlobs),
    blobGasUsedRatio: ratios.map(() => 0),
    ...(percentiles.length > 0 && { reward: rewards }),
  };
}

/** Some clients send a plain number. */
function readCount(value: unknown): number {
  const count =
    typeof value === 'number' && Number.isSafeInteger(value) ? value : readQuantity(value, 'the block count');
  if (count < 1) throw invalid('the block count must be at least 1');
  return count;
}

function readPercentiles(value: unknown): number[] {
  if (isAbsent(value)) return [];
  const all = readList(value, 'the percentiles', mostPercentiles);
  const isFit = (one: unknown, place: number) =>
    typeof one === 'number' && one >= 0 && one <= 100 && (place === 0 || one >= (all[place - 1] as number));
  if (!all.every(isFit)) throw invalid('the percentiles must be numbers from 0 to 100 in ascending order');
  return all as number[];
}

/** The tips of the block's transactions at these percentiles of the gas that it used. */
function rewardsOf(block: StoredBlock, percentiles: number[]): Hex[] {
  const tips = block.transactions
    .map((raw, index) => ({
      tip: tipOf(effectivePrice(decodeFields(raw), block.baseFeeWei), block),
      gasUsed: block.receipts[index]?.gasUsed ?? 0,
    }))
    .sort((one, other) => Number(one.tip - other.tip));
  let place = 0;
  let gas = tips[0]?.gasUsed ?? 0;
  return percentiles.map((percentile) => {
    const threshold = Math.floor((block.gasUsed * percentile) / 100);
    while (gas < threshold && place < tips.length - 1) {
      place += 1;
      gas += tips[place]?.gasUsed ?? 0;
    }
    return numberToHex(tips[place]?.tip ?? 0n);
  });
}

/** A block of anvil may have a transaction that pays less than the base fee. */
function tipOf(priceWei: bigint, { baseFeeWei }: StoredBlock): bigint {
  return priceWei > baseFeeWei ? priceWei - baseFeeWei : 0n;
}
