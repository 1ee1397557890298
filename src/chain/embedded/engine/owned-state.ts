/**
 * The state manager of the library, with keys by which equal nodes of two contracts are two nodes, and equal code of two
 * accounts that delegate (EIP-7702) two rows: see node-keys.ts.
 */
import type { MerklePatriciaTrie } from '@ethereumjs/mpt';
import { MerkleStateManager, type MerkleStateManagerOpts } from '@ethereumjs/statemanager';
import {
  type Account,
  type Address,
  bytesToUnprefixedHex,
  createAccountFromRLP,
  createAddressFromString,
} from '@ethereumjs/util';
import { contractCodeKey, delegationKey, ownerBytes, ownerOf } from './node-keys.ts';
import type { NodeView } from './nodes.ts';

export class OwnedStateManager extends MerkleStateManager {
  readonly #nodes: NodeView;

  constructor({ nodes, ...rest }: MerkleStateManagerOpts & { nodes: NodeView }) {
    super(rest);
    this.#nodes = nodes;
  }

  /**
   * The library's own prefix has 7 bytes. Two contracts with the same one can be found in minutes, and with equal storage
   * they would share nodes, which the first of them to change would delete.
   */
  protected override _getStorageTrie(
    addressOrHash: Address | { bytes: Uint8Array } | Uint8Array,
    account?: Account,
  ): MerklePatriciaTrie {
    const owner = addressOrHash instanceof Uint8Array ? addressOrHash : this.#hash(addressOrHash.bytes);
    const name = bytesToUnprefixedHex(owner);
    const known = this._storageTries[name];
    if (known) return known;
    const trie = this._trie.shallowCopy(false, { keyPrefix: owner.slice(0, ownerBytes) });
    trie.root(account?.storageRoot ?? trie.EMPTY_TRIE_ROOT);
    trie.flushCheckpoints();
    this._storageTries[name] = trie;
    return trie;
  }

  override async getCode(address: Address): Promise<Uint8Array> {
    const known = this._caches?.code?.get(address);
    if (known) return known.code ?? none;
    const account = await this.getAccount(address);
    if (!account?.isContract()) return none;
    const code = await this.#readCode(address, account);
    this._caches?.code?.put(address, code);
    return code;
  }

  /** At the end of a block, once. The library writes all code by its hash alone, and deletes none. */
  override async flush(): Promise<void> {
    for (const [hex, { code = none }] of this._caches?.code?.flush() ?? []) {
      const codeHash = bytesToUnprefixedHex(this.#hash(code));
      if (isContract(code)) await this.#nodes.put(contractCodeKey(codeHash), code);
      else await this.#delegate(createAddressFromString(`0x${hex}`), { code, codeHash });
    }
    await super.flush();
  }

  /** An account that delegates now, or did before, or both. */
  async #delegate(address: Address, now: { code: Uint8Array; codeHash: string }): Promise<void> {
    const encoded = await this._trie.get(address.bytes);
    const before = encoded && createAccountFromRLP(encoded);
    if (before?.isContract()) {
      const codeHash = bytesToUnprefixedHex(before.codeHash);
      if (codeHash === now.codeHash) return;
      // Only what was read can be said to leave the state.
      await this.#readCode(address, before);
      await this.#nodes.del(this.#delegationKey(address, codeHash));
    }
    if (now.code.length > 0) await this.#nodes.put(this.#delegationKey(address, now.codeHash), now.code);
  }

  /** Whether an account is a contract or delegates, only its code tells. */
  #readCode(address: Address, account: Account): Promise<Uint8Array> {
    const codeHash = bytesToUnprefixedHex(account.codeHash);
    return this.#nodes.firstOf([contractCodeKey(codeHash), this.#delegationKey(address, codeHash)]);
  }

  #delegationKey(address: Address, codeHash: string): string {
    return delegationKey(ownerOf(bytesToUnprefixedHex(this.#hash(address.bytes))), codeHash);
  }

  #hash(bytes: Uint8Array): Uint8Array {
    const keccak = this.common.customCrypto.keccak256;
    if (!keccak) throw new Error('the engine has no Keccak-256');
    return keccak(bytes);
  }
}

const none = new Uint8Array(0);

/** EIP-3541: no contract's code begins with 0xef, while that of an account that delegates begins with 0xef0100. */
function isContract(code: Uint8Array): boolean {
  return code.length > 0 && code[0] !== 0xef;
}
