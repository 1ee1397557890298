/** Nodes of the receipt trie: every form of them, and every way in which they do not lead to the receipt. */
import { hexToBytes } from 'viem';
import { fixed } from '../fixtures/proof-fixture.ts';
import {
  branchNode,
  type CraftedRow,
  encode,
  extensionNode,
  leafNode,
  list,
  prefixed,
} from './crafted-block.ts';
import { failsChain, holds } from './evm-vectors.ts';

const hex = (digits: string) => hexToBytes(`0x${digits}`);

export const trieRows: CraftedRow[] = [
  [
    'trie-branch',
    'A branch and a leaf below it.',
    holds,
    { nodes: (receipt) => below(leafNode('0', receipt), (leaf) => branchNode(8, leaf)) },
  ],
  ['trie-two-branches', 'Two branches, and a leaf without a path.', holds, { nodes: twoBranches }],
  [
    'trie-extension',
    'An extension and a leaf below it.',
    holds,
    { nodes: (receipt) => below(leafNode('0', receipt), (leaf) => extensionNode('8', leaf)) },
  ],
  [
    'trie-index-128',
    'The key of index 128 has two bytes.',
    holds,
    { index: 128, nodes: (receipt) => [leafNode('8180', receipt)] },
  ],
  [
    'trie-index-127',
    'The key of index 127 has one byte.',
    holds,
    { index: 127, nodes: (receipt) => [leafNode('7f', receipt)] },
  ],
  [
    'trie-index-256',
    'The key of index 256 has three bytes.',
    holds,
    { index: 256, nodes: (receipt) => [leafNode('820100', receipt)] },
  ],
  [
    'trie-index-128-as-one-byte',
    'The key of index 128 without its prefix.',
    failsChain,
    { index: 128, nodes: (receipt) => [leafNode('80', receipt)] },
  ],
  ['trie-other-index', 'The receipt of another transaction.', failsChain, { index: 1 }],
  [
    'trie-leaf-too-short',
    'A leaf that ends before the key does.',
    failsChain,
    { nodes: (receipt) => [leafNode('8', receipt)] },
  ],
  [
    'trie-leaf-too-long',
    'A leaf that goes on after the key.',
    failsChain,
    { nodes: (receipt) => [leafNode('800', receipt)] },
  ],
  [
    'trie-extension-elsewhere',
    'An extension that leads to other keys.',
    failsChain,
    { nodes: (receipt) => below(leafNode('0', receipt), (leaf) => extensionNode('7', leaf)) },
  ],
  [
    'trie-extension-of-nothing',
    'An extension without a path.',
    failsChain,
    { nodes: (receipt) => below(leafNode('80', receipt), (leaf) => extensionNode('', leaf)) },
  ],
  [
    'trie-wrong-padding',
    'An even path whose padding is not zero.',
    failsChain,
    { nodes: (receipt) => [list([encode('0x2180'), encodeBytes(receipt)])] },
  ],
  [
    'trie-wrong-flag',
    'A flag that does not exist.',
    failsChain,
    { nodes: (receipt) => [list([encode('0x4080'), encodeBytes(receipt)])] },
  ],
  [
    'trie-empty-path',
    'A path without even a flag.',
    failsChain,
    { nodes: (receipt) => [list([encode('0x'), encodeBytes(receipt)])] },
  ],
  [
    'trie-three-items',
    'A node with three items.',
    failsChain,
    { nodes: (receipt) => [list([encode(prefixed('80', { leaf: true })), encodeBytes(receipt), hex('80')])] },
  ],
  [
    'trie-branch-of-18',
    'A branch with 18 items.',
    failsChain,
    { nodes: (receipt) => below(leafNode('0', receipt), wideBranch) },
  ],
  [
    'trie-branch-with-value',
    'A branch whose own value is ignored.',
    holds,
    {
      nodes: (receipt) =>
        below(leafNode('0', receipt), (leaf) => branchNode(8, leaf, Uint8Array.of(0xbe, 0xef))),
    },
  ],
  [
    'trie-branch-elsewhere',
    'A branch that has nothing at the nibble.',
    failsChain,
    { nodes: (receipt) => below(leafNode('0', receipt), (leaf) => branchNode(7, leaf)) },
  ],
  [
    'trie-branch-after-the-key',
    'A branch where the key has ended.',
    failsChain,
    {
      nodes: (receipt) =>
        below(
          leafNode('80', receipt),
          (leaf) => branchNode(8, leaf),
          (one) => branchNode(0, one),
          (two) => branchNode(8, two),
        ),
    },
  ],
  [
    'trie-node-in-node',
    'A node inside its parent instead of its hash.',
    failsChain,
    { nodes: (receipt) => [branchNode(8, [hexToBytes(prefixed('0', { leaf: true })), receipt])] },
  ],
  [
    'trie-receipt-a-list',
    'The leaf has a list, not the bytes of a receipt.',
    failsChain,
    { type: 0, nodes: (receipt) => [list([encode(prefixed('80', { leaf: true })), receipt])] },
  ],
  [
    'trie-more-after-the-leaf',
    'A node follows the leaf.',
    failsChain,
    { shown: (nodes) => [...nodes, ...nodes] },
  ],
  [
    'trie-without-the-leaf',
    'The leaf is missing.',
    failsChain,
    { nodes: twoBranches, shown: (nodes) => nodes.slice(0, 2) },
  ],
  [
    'trie-without-the-root',
    'The first node is missing.',
    failsChain,
    { nodes: twoBranches, shown: (nodes) => nodes.slice(1) },
  ],
  [
    'trie-other-order',
    'The nodes are in another order.',
    failsChain,
    { nodes: twoBranches, shown: (nodes) => nodes.toReversed() },
  ],
  [
    'trie-other-root',
    'The receipt anchors the root, but belongs to another block.',
    failsChain,
    { header: (fields) => fields.with(5, encode(fixed(0x99))) },
  ],
  [
    'trie-other-leaf',
    'The leaf anchors the root, but the branch refers to another one.',
    failsChain,
    {
      nodes: (receipt) =>
        below(leafNode('0', receipt.slice(1)), (leaf) => branchNode(8, leaf)).with(1, leafNode('0', receipt)),
    },
  ],
];

/** Nodes from the root to the leaf: each is made for the one below it. */
function below(leaf: Uint8Array, ...above: ((child: Uint8Array) => Uint8Array)[]): Uint8Array[] {
  const nodes = [leaf];
  for (const make of above) nodes.unshift(make(nodes[0] ?? leaf));
  return nodes;
}

function twoBranches(receipt: Uint8Array): Uint8Array[] {
  return below(
    leafNode('', receipt),
    (leaf) => branchNode(0, leaf),
    (branch) => branchNode(8, branch),
  );
}

function wideBranch(leaf: Uint8Array): Uint8Array {
  // The list is so short that its prefix has one byte.
  return list([branchNode(8, leaf).slice(1), hex('80')]);
}

function encodeBytes(bytes: Uint8Array): Uint8Array {
  return encode(`0x${Buffer.from(bytes).toString('hex')}`);
}
