/** EIP-55 for many addresses at once: a page has a hundred, and hashing them in plain JavaScript took most of its time. */
import { loadKeccak } from '../anchoring/keccak.ts';

/** Gives the EIP-55 form of 40 hex digits in lower case. */
export type Checksum = (digits: string) => string;

/** A vault mostly deals with the same others. */
const rememberedAddresses = 10_000;

export async function loadChecksum(): Promise<Checksum> {
  const keccak = await loadKeccak();
  const ascii = Buffer.alloc(40);
  const known = new Map<string, string>();

  return (digits) => {
    const found = known.get(digits);
    if (found !== undefined) return found;
    ascii.write(digits, 'latin1');
    const hash = keccak(ascii);
    for (let place = 0; place < 40; place += 1) {
      const byte = hash[place >> 1] ?? 0;
      const raised = (place % 2 === 0 ? byte & 0x80 : byte & 0x08) !== 0;
      const code = ascii[place] ?? 0;
      // Letters only: a to f begin at 0x61, A to F at 0x41.
      if (raised && code > 0x60) ascii[place] = code - 0x20;
    }
    const address = `0x${ascii.toString('latin1')}`;
    if (known.size >= rememberedAddresses) known.clear();
    known.set(digits, address);
    return address;
  };
}
