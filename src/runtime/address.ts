/** EVM addresses as the API accepts them: all lower case, all upper case, or with a correct EIP-55 checksum. */
import type { Address } from 'viem';
// Not from 'viem' itself: that loads every chain action, 30 MB and 200 ms.
import { getAddress } from 'viem/utils';

export function isAcceptableAddress(text: string): boolean {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return false;
  if (acceptable.has(text)) return true;
  const digits = text.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true;
  if (getAddress(text.toLowerCase()) !== text) return false;
  if (acceptable.size >= mostAcceptable) acceptable.clear();
  acceptable.add(text);
  return true;
}

/** Addresses with a correct checksum: the same vaults are named again and again, and the checksum is a hash. */
const acceptable = new Set<string>();
const mostAcceptable = 10_000;

/** The form in which addresses are returned. */
export function checksummed(address: string): Address {
  return getAddress(address.toLowerCase());
}
