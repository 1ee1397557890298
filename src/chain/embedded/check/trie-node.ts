/** Takes a node of a trie apart. */
import { fromRlp, type Hex } from 'viem';

/** What a node points to. The path is that from the root of the trie, in nibbles. */
export type Link = { path: string } & ({ kind: 'node'; hash: Hex } | { kind: 'value'; value: Hex });

type Item = Hex | readonly Item[];

/** Throws if the bytes are no node. */
export function linksOf(bytes: Uint8Array, path: string): Link[] {
  return links(fromRlp(bytes, 'hex') as Item, path);
}

function links(node: Item, path: string): Link[] {
  if (!isList(node)) throw notANode();
  if (node.length === 17) {
    return node.slice(0, 16).flatMap((child, nibble) => below(child, path + nibble.toString(16)));
  }
  const [encodedPath, rest] = node;
  if (node.length !== 2 || typeof encodedPath !== 'string' || rest === undefined) throw notANode();
  // The first nibble says whether it is a leaf, and whether the number of nibbles is odd.
  const flags = Number.parseInt(encodedPath.slice(2, 3), 16);
  const whole = path + encodedPath.slice(flags % 2 === 1 ? 3 : 4);
  if (flags < 2) return below(rest, whole);
  if (isList(rest)) throw notANode();
  return [{ kind: 'value', value: rest, path: whole }];
}

/** A child is a hash, or the node itself if it is shorter than a hash. */
function below(child: Item, path: string): Link[] {
  if (isList(child)) return links(child, path);
  if (child === '0x') return [];
  if (child.length !== 66) throw notANode();
  return [{ kind: 'node', hash: child, path }];
}

function isList(item: Item): item is readonly Item[] {
  return Array.isArray(item);
}

const notANode = () => new Error('the bytes are no node of a trie');
