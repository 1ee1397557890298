/** The stored form of a receipt: RLP of sender, success, gas and logs, deflated, as half of it are zeros and repetitions. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { fromRlp, type Hex, hexToBool, hexToNumber, numberToHex, toRlp } from 'viem';
import type { StoredReceipt } from '../engine/protocol.ts';

/**
 * What most receipts have: zeros, and the topic and the address of the registry's event. Receipts that were stored with it
 * cannot be read with another.
 */
const dictionary = Buffer.from(
  `${'00'.repeat(32)}89a6d921e8e91c18be78a016997c04625db0d36e402bd063eb22521fe39e03c0` +
    '94cfaee48d743f42264aaf3521fc464606cfafe23a',
  'hex',
);

type Fields = [from: Hex, succeeded: Hex, gasUsed: Hex, logs: [address: Hex, topics: Hex[], data: Hex][]];

export function encodeReceipt({ from, succeeded, gasUsed, logs }: StoredReceipt): Buffer {
  const fields: Fields = [
    from,
    succeeded ? '0x01' : '0x00',
    numberToHex(gasUsed),
    logs.map(({ address, topics, data }) => [address, topics, data]),
  ];
  return deflateRawSync(toRlp(fields, 'bytes'), { dictionary });
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
  const [from, succeeded, gasUsed, logs] = fromRlp(
    inflateRawSync(bytes, { dictionary }),
    'hex',
  ) as unknown as Fields;
  return {
    from,
    succeeded: hexToBool(succeeded),
    gasUsed: hexToNumber(gasUsed),
    logs: logs.map(([address, topics, data]) => ({ address, topics, data })),
  };
}
