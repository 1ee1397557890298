/** Receipts and their logs as clients expect them. */
import { getContractAddress, type Hex, keccak256, numberToHex } from 'viem';
import type { StoredLog } from '../../engine/protocol.ts';
import type { StoredBlock } from '../../results/results.store.ts';
import { logsBloom } from './logs-bloom.ts';
import { decodeFields } from './transaction-fields.ts';
import { effectivePrice, type Place } from './transaction-json.ts';

/** Null if the block has no such transaction. */
export function receiptJson({ block, index }: Place): object | null {
  const raw = block.transactions[index];
  const receipt = block.receipts[index];
  if (raw === undefined || receipt === undefined) return null;
  const earlier = block.receipts.slice(0, index);
  const gasBefore = earlier.reduce((sum, { gasUsed }) => sum + gasUsed, 0);
  const logsBefore = earlier.reduce((sum, { logs }) => sum + logs.length, 0);
  return oneReceipt({ block, index, raw, receipt, gasBefore, logsBefore });
}

export function receiptsJson(block: StoredBlock): object[] {
  let gasBefore = 0;
  let logsBefore = 0;
  return block.receipts.map((receipt, index) => {
    const raw = block.transactions[index] ?? '0x';
    const json = oneReceipt({ block, index, raw, receipt, gasBefore, logsBefore });
    gasBefore += receipt.gasUsed;
    logsBefore += receipt.logs.length;
    return json;
  });
}

interface Context extends Place {
  raw: Hex;
  receipt: StoredBlock['receipts'][number];
  /** Of the transactions before it in the block. */
  gasBefore: number;
  logsBefore: number;
}

function oneReceipt({ block, index, raw, receipt, gasBefore, logsBefore }: Context): object {
  const { from, succeeded, gasUsed, logs } = receipt;
  const fields = decodeFields(raw);
  const transactionHash = keccak256(raw);
  return {
    transactionHash,
    transactionIndex: numberToHex(index),
    blockHash: block.hash,
    blockNumber: numberToHex(block.number),
    from,
    to: fields.to,
    cumulativeGasUsed: numberToHex(gasBefore + gasUsed),
    gasUsed: numberToHex(gasUsed),
    contractAddress: fields.to === null ? createdAddress(from, fields.nonce) : null,
    logs: logs.map((log, place) =>
      logJson(log, { block, index, transactionHash, logIndex: logsBefore + place }),
    ),
    logsBloom: logsBloom(logs),
    status: succeeded ? '0x1' : '0x0',
    type: numberToHex(fields.type),
    effectiveGasPrice: numberToHex(effectivePrice(fields, block.baseFeeWei)),
  };
}

function createdAddress(from: Hex, nonce: bigint): string {
  return getContractAddress({ from, nonce }).toLowerCase();
}

export interface LogPlace extends Place {
  transactionHash: Hex;
  /** Counted over the block. */
  logIndex: number;
}

export function logJson(log: StoredLog, { block, index, transactionHash, logIndex }: LogPlace): object {
  return {
    address: log.address,
    topics: log.topics,
    data: log.data,
    blockHash: block.hash,
    blockNumber: numberToHex(block.number),
    blockTimestamp: numberToHex(block.timestampSeconds),
    transactionHash,
    transactionIndex: numberToHex(index),
    logIndex: numberToHex(logIndex),
    removed: false,
  };
}
