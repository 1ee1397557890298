/** EVM addresses as the API accepts them: all lower case, all upper case, or with a correct EIP-55 checksum. */
import type { Address } from 'viem';
// Not from 'viem' itself: that loads every chain action, 30 MB and 200 ms.
import { getAddress } from 'viem/utils';

export function isAcceptableAddress(text: string): boolean {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return false;
  const digits = text.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true;
  return getAddress(text.toLowerCase()) === text;
}

/** The form in which addresses are returned. */
export function checksummed(address: string): Address {
  return getAddress(address.toLowerCase());
}
