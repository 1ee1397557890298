/** The state manager of the library, with keys by which equal nodes of two contracts are two nodes. */
import type { MerklePatriciaTrie } from '@ethereumjs/mpt';
import { MerkleStateManager } from '@ethereumjs/statemanager';
import { type Account, type Address, bytesToUnprefixedHex } from '@ethereumjs/util';
import { ownerBytes } from './protocol.ts';

/**
 * The library's own prefix has 7 bytes. Two contracts with the same one can be found in minutes, and with equal storage
 * they would share nodes, which the first of them to change would delete.
 */
export class OwnedStateManager extends MerkleStateManager {
  protected override _getStorageTrie(
    addressOrHash: Address | { bytes: Uint8Array } | Uint8Array,
    account?: Account,
  ): MerklePatriciaTrie {
    const keccak = this.common.customCrypto.keccak256;
    if (!keccak) throw new Error('the engine has no Keccak-256');
    const owner = addressOrHash instanceof Uint8Array ? addressOrHash : keccak(addressOrHash.bytes);
    const name = bytesToUnprefixedHex(owner);
    const known = this._storageTries[name];
    if (known) return known;
    const trie = this._trie.shallowCopy(false, { keyPrefix: owner.slice(0, ownerBytes) });
    trie.root(account?.storageRoot ?? trie.EMPTY_TRIE_ROOT);
    trie.flushCheckpoints();
    this._storageTries[name] = trie;
    return trie;
  }
}
