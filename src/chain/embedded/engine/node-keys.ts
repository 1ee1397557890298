/**
 * The keys of what a state consists of: nodes of tries, and code. In hex, without 0x.
 *
 * A block says of each row whether its state has it more or less than that of its parent (`StateChanges`). So that it can,
 * whatever may leave a state belongs to one account only, and has its owner in the key:
 *
 * - A node of the accounts' trie: its hash. There is one such trie.
 * - A node of a contract's storage: the owner and the hash. Contracts with equal storage, also with the same root, have
 *   rows of their own.
 * - Code by which an account delegates to a contract (EIP-7702): the owner, a `c` and the hash. An account may delegate to
 *   another contract, or to none any more, and many may delegate to one contract.
 * - Code of a contract: a `c` and the hash. Contracts with equal code share the row, which never leaves the state: since
 *   Cancun only a contract that was created by the same transaction can be destroyed.
 *
 * No trie has a node at two places: the rest of the path is in each leaf, and is most of a hash.
 */

/** The owner is so many bytes of the hash of the account's address. */
export const ownerBytes = 16;

const code = '63';

/** Of an account or contract, from the hash of its address. */
export function ownerOf(hashedAddress: string): string {
  return hashedAddress.slice(0, 2 * ownerBytes);
}

export function contractCodeKey(codeHash: string): string {
  return code + codeHash;
}

export function delegationKey(owner: string, codeHash: string): string {
  return owner + code + codeHash;
}
