/** Reads a transaction's receipt from the bytes that a block's receipt trie has. */
import type { Hex } from 'viem';
import { toHex } from '../hex.ts';
import { bytesOf, decodeRlp, EvmFault, integerOf, listOf, type RlpItem } from './rlp.ts';

interface Receipt {
  succeeded: boolean;
  logs: Log[];
}

export interface Log {
  address: Hex;
  topics: Hex[];
  data: Hex;
}

/** The deposits of the OP Stack: the only receipts with more than four fields, from its Canyon upgrade on six. */
const depositType = 0x7e;

/** EIP-2718: a type up to 0x7f before the list, or the list alone. Throws an EvmFault. */
export function readReceipt(bytes: Uint8Array): Receipt {
  const type = bytes[0] ?? 0xff;
  const what = 'the receipt';
  const fields = listOf(decodeRlp(type <= 0x7f ? bytes.subarray(1) : bytes, what), what);
  const [status, gas, bloom, logs, ...more] = fields;
  if (more.length > 0 && !(type === depositType && more.length === 2)) {
    throw new EvmFault(`${what} has ${fields.length} fields, which its type does not have`);
  }
  integerOf(gas, `the gas of ${what}`);
  bytesOf(bloom, `the bloom filter of ${what}`, 256);
  for (const field of more) integerOf(field, `a field of the deposit of ${what}`);
  return {
    succeeded: readStatus(bytesOf(status, `the status of ${what}`)),
    logs: listOf(logs, `the list of logs of ${what}`).map(readLog),
  };
}

/** Before Ethereum's Byzantium upgrade, this was a state root, which does not say whether the transaction succeeded. */
function readStatus(bytes: Uint8Array): boolean {
  if (bytes.length === 0) return false;
  if (bytes.length === 1 && bytes[0] === 1) return true;
  throw new EvmFault('the status of the receipt is neither 0 nor 1');
}

function readLog(item: RlpItem): Log {
  const fields = listOf(item, 'a log');
  if (fields.length !== 3) throw new EvmFault(`a log has ${fields.length} fields, not 3`);
  const topics = listOf(fields[1], 'the list of topics of a log');
  if (topics.length > 4) throw new EvmFault(`a log has ${topics.length} topics, more than 4`);
  return {
    address: toHex(bytesOf(fields[0], 'the address of a log', 20)),
    topics: topics.map((topic) => toHex(bytesOf(topic, 'a topic', 32))),
    data: toHex(bytesOf(fields[2], 'the data of a log')),
  };
}
