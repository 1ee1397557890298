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

  /** Only letters have bit 6, and without bit 5 they are upper case. (Half as long as with a branch, which guesses.) */
  function raise(place: number, bit: number): void {
    const code = ascii[place] ?? 0;
    ascii[place] = code - (((code >> 6) & bit) << 5);
  }

  return (digits) => {
    const found = known.get(digits);
    if (found !== undefined) return found;
    ascii.write(digits, 'latin1');
    // A text of its own: the one given may be a piece of a page, which would be kept as a whole.
    const key = ascii.toString('latin1');
    const hash = keccak(ascii);
    for (let place = 0; place < 20; place += 1) {
      const byte = hash[place] ?? 0;
      raise(2 * place, byte >> 7);
      raise(2 * place + 1, (byte >> 3) & 1);
    }
    const address = `0x${ascii.toString('latin1')}`;
    if (known.size >= rememberedAddresses) known.clear();
    known.set(key, address);
    return address;
  };
}
