/**
 * Follows nodes from the root of a receipt trie (a Merkle Patricia trie) to the receipt under an index. Ethereum would put
 * a node of less than 32 bytes into its parent. No node of a receipt trie is that short: each has a hash of 32 bytes in it,
 * or a receipt, whose bloom filter alone has 256. So every node is referred to by its hash, and no other form is accepted.
 */
import type { Hex } from 'viem';
import { toHex } from '../hex.ts';
import { plainKeccak } from '../keccak.ts';
import { bytesOf, decodeRlp, EvmFault, listOf, type RlpItem } from './rlp.ts';

/** The receipt's bytes. Every node must be used, and in this order. Throws an EvmFault. */
export function receiptAt(index: number, root: Hex, nodes: readonly Uint8Array[]): Uint8Array {
  const key = keyOf(index);
  let wanted = root;
  let at = 0;
  for (const [place, node] of nodes.entries()) {
    const what = `node ${place}`;
    if (toHex(plainKeccak(node)) !== wanted) {
      const referrer = place === 0 ? 'the header' : 'the node before it';
      throw new EvmFault(`${what} is not the one that ${referrer} refers to`);
    }
    const items = listOf(decodeRlp(node, what), what);
    if (items.length === 17) {
      // Where the key ends, there is no such item.
      wanted = childOf(items[Number.parseInt(key.charAt(at), 16)], what);
      at += 1;
      continue;
    }
    if (items.length !== 2) throw new EvmFault(`${what} has ${items.length} items, not 2 or 17`);
    const { isLeaf, path } = pathOf(items[0], what);
    const end = at + path.length;
    if (!key.startsWith(path, at) || (isLeaf && end < key.length)) {
      throw new EvmFault(`${what} does not lead to index ${index}`);
    }
    if (isLeaf) {
      if (place < nodes.length - 1) throw new EvmFault(`${what} has the receipt, but more nodes follow`);
      return bytesOf(items[1], `the receipt in ${what}`);
    }
    wanted = childOf(items[1], what);
    at = end;
  }
  throw new EvmFault('the nodes end before a receipt');
}

function childOf(item: RlpItem | undefined, what: string): Hex {
  return toHex(bytesOf(item, `the reference to the next node in ${what}`, 32));
}

/** The hex-prefix encoding of the Yellow Paper, appendix C. A path is as many hex digits as it has nibbles. */
function pathOf(item: RlpItem | undefined, what: string): { isLeaf: boolean; path: string } {
  const digits = toHex(bytesOf(item, `the path in ${what}`)).slice(2);
  const [, leaf, extension] = /^(?:(?:3|20)(.*)|(?:1|00)(.+))$/.exec(digits) ?? [];
  const path = leaf ?? extension;
  if (path === undefined) throw new EvmFault(`the path in ${what} has a wrong prefix`);
  return { isLeaf: leaf !== undefined, path };
}

/** RLP of the index, as hex digits: zero is the empty string, and a byte below 0x80 is itself. */
function keyOf(index: number): string {
  const digits = index === 0 ? '' : index.toString(16);
  const bytes = digits.length % 2 === 1 ? `0${digits}` : digits;
  return index > 0 && index < 0x80 ? bytes : (0x80 + bytes.length / 2).toString(16) + bytes;
}
