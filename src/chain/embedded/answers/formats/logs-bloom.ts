/** The bloom filter over the addresses and topics of logs. */
import { type Hex, hexToBytes, keccak256 } from 'viem';
import type { StoredLog } from '../../engine/protocol.ts';

const bytes = 256;

export function logsBloom(logs: Iterable<StoredLog>): Hex {
  const bloom = Buffer.alloc(bytes);
  const entered = new Set<Hex>();
  for (const { address, topics } of logs) {
    for (const entry of [address, ...topics]) {
      // Most logs of a block have entries in common.
      if (entered.has(entry)) continue;
      entered.add(entry);
      enter(entry, bloom);
    }
  }
  return `0x${bloom.toString('hex')}`;
}

/** Sets three bits: eleven bits of the hash each. */
function enter(entry: Hex, bloom: Buffer): void {
  const hash = Buffer.from(keccak256(hexToBytes(entry), 'bytes'));
  for (const offset of [0, 2, 4]) {
    const bit = hash.readUInt16BE(offset) % (bytes * 8);
    const at = bytes - 1 - Math.floor(bit / 8);
    bloom[at] = (bloom[at] ?? 0) | (1 << (bit % 8));
  }
}
