/** Which of a block's new nodes its state really has: the library also writes those of contracts that it deleted again. */
import { RLP } from '@ethereumjs/rlp';
import { bytesToUnprefixedHex } from '@ethereumjs/util';
import { contractCodeKey, delegationKey, ownerOf } from './node-keys.ts';

type Item = Uint8Array | Item[];

interface Place {
  /** Empty for the accounts. */
  owner: string;
  /** Nibbles from the root of the trie. */
  path: string;
  node: Item;
}

/**
 * Walks from the root through the new nodes only: whatever is below an old node is old. Whoever changes an account or a
 * slot makes all nodes above it anew.
 */
export function reachable(root: Uint8Array, added: ReadonlyMap<string, Uint8Array>): Set<string> {
  const reached = new Set<string>();
  const places: Place[] = [{ owner: '', path: '', node: root }];
  for (let place = places.pop(); place; place = places.pop()) {
    const { owner, path, node } = place;
    if (node instanceof Uint8Array) {
      const key = owner + bytesToUnprefixedHex(node);
      const value = added.get(key);
      if (value === undefined || reached.has(key)) continue;
      reached.add(key);
      places.push({ owner, path, node: RLP.decode(value) as Item[] });
    } else if (node.length === 17) {
      for (const [nibble, child] of node.slice(0, 16).entries()) {
        if (child.length > 0) places.push({ owner, path: path + nibble.toString(16), node: child });
      }
    } else {
      const [encoded, rest] = node as [Uint8Array, Item];
      const nibbles = bytesToUnprefixedHex(encoded);
      // The first nibble says whether it is a leaf, and whether the number of nibbles is odd.
      const flags = Number.parseInt(nibbles.slice(0, 1), 16);
      const whole = path + nibbles.slice(flags % 2 === 1 ? 1 : 2);
      if (flags < 2) places.push({ owner, path: whole, node: rest });
      else if (owner === '') {
        const [, , storageRoot, codeHash] = RLP.decode(rest as Uint8Array) as Uint8Array[];
        const account = ownerOf(whole);
        const hash = bytesToUnprefixedHex(codeHash as Uint8Array);
        // Only one of them was written, if any.
        reached.add(contractCodeKey(hash)).add(delegationKey(account, hash));
        places.push({ owner: account, path: '', node: storageRoot as Uint8Array });
      }
    }
  }
  return reached;
}
