/** The stored form of a receipt: RLP of sender, success, gas and logs. */
import { fromRlp, type Hex, hexToBool, hexToNumber, numberToHex, toRlp } from 'viem';
import type { StoredReceipt } from '../engine/protocol.ts';

type Fields = [from: Hex, succeeded: Hex, gasUsed: Hex, logs: [address: Hex, topics: Hex[], data: Hex][]];

export function encodeReceipt({ from, succeeded, gasUsed, logs }: StoredReceipt): Buffer {
  const fields: Fields = [
    from,
    succeeded ? '0x01' : '0x00',
    numberToHex(gasUsed),
    logs.map(({ address, topics, data }) => [address, topics, data]),
  ];
  return Buffer.from(toRlp(fields, 'bytes'));
}

/** Throws UndecodableReceipt. */
export function decodeReceipt(bytes: Uint8Array): StoredReceipt {
  try {
    return decode(bytes);
  } catch (cause) {
    throw new UndecodableReceipt('a stored receipt cannot be decoded', { cause });
  }
}

export class UndecodableReceipt extends Error {
  override name = 'UndecodableReceipt';
}

function decode(bytes: Uint8Array): StoredReceipt {
  const [from, succeeded, gasUsed, logs] = fromRlp(bytes, 'hex') as unknown as Fields;
  return {
    from,
    succeeded: hexToBool(succeeded),
    gasUsed: hexToNumber(gasUsed),
    logs: logs.map(([address, topics, data]) => ({ address, topics, data })),
  };
}
