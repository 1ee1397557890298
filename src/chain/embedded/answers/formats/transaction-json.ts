/** Transactions as clients expect them. */
import { type Hex, keccak256, numberToHex } from 'viem';
import type { StoredBlock } from '../../results/results.store.ts';
import { type Authorization, decodeFields, type TransactionFields } from './transaction-fields.ts';

/** The place of a transaction in its block. */
export interface Place {
  block: StoredBlock;
  index: number;
}

export function minedTransaction({ block, index }: Place): object | null {
  const raw = block.transactions[index];
  const receipt = block.receipts[index];
  if (raw === undefined || receipt === undefined) return null;
  const fields = decodeFields(raw);
  return {
    blockHash: block.hash,
    blockNumber: numberToHex(block.number),
    blockTimestamp: numberToHex(block.timestampSeconds),
    transactionIndex: numberToHex(index),
    from: receipt.from,
    gasPrice: numberToHex(effectivePrice(fields, block.baseFeeWei)),
    ...parts(fields, raw),
  };
}

/** Its price is not known yet: the most that it pays. */
export function waitingTransaction({ raw, from }: { raw: Hex; from: Hex }): object {
  const fields = decodeFields(raw);
  return {
    blockHash: null,
    blockNumber: null,
    transactionIndex: null,
    from,
    gasPrice: numberToHex(fields.gasPriceWei ?? fields.maxFeeWei ?? 0n),
    ...parts(fields, raw),
  };
}

/** What one unit of gas cost the sender. */
export function effectivePrice(
  { gasPriceWei, maxFeeWei, priorityFeeWei }: TransactionFields,
  baseFeeWei: bigint,
): bigint {
  if (gasPriceWei !== null) return gasPriceWei;
  const most = maxFeeWei ?? 0n;
  const usual = baseFeeWei + (priorityFeeWei ?? 0n);
  return usual < most ? usual : most;
}

/** What does not depend on the block. */
function parts(fields: TransactionFields, raw: Hex): object {
  const { type, chainId, maxFeeWei, priorityFeeWei, accessList, authorizationList } = fields;
  const v = numberToHex(fields.v);
  return {
    hash: keccak256(raw),
    type: numberToHex(type),
    ...(chainId !== null && { chainId: numberToHex(chainId) }),
    nonce: numberToHex(fields.nonce),
    gas: numberToHex(fields.gas),
    ...(maxFeeWei !== null && { maxFeePerGas: numberToHex(maxFeeWei) }),
    ...(priorityFeeWei !== null && { maxPriorityFeePerGas: numberToHex(priorityFeeWei) }),
    to: fields.to,
    value: numberToHex(fields.valueWei),
    input: fields.input,
    ...(accessList && { accessList }),
    ...(authorizationList && { authorizationList: authorizationList.map(authorizationJson) }),
    r: numberToHex(fields.r),
    s: numberToHex(fields.s),
    v,
    ...(type !== 0 && { yParity: v }),
  };
}

function authorizationJson({ chainId, address, nonce, yParity, r, s }: Authorization): object {
  return {
    chainId: numberToHex(chainId),
    address,
    nonce: numberToHex(nonce),
    yParity: numberToHex(yParity),
    r: numberToHex(r),
    s: numberToHex(s),
  };
}
