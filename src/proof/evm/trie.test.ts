/** Paths in receipt tries, compared with @ethereumjs/mpt. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMerkleProof, createMPT } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';
import { bytesToHex, type Hex, hexToBytes, keccak256 } from 'viem';
import { encodeReceipt, inventBlock, mixedReceipts } from '../../../test/support/chain/inclusion-fixtures.ts';
import { receiptAt } from './trie.ts';

/** Where the form of the trie changes: one leaf, a second, the first full node, and keys of one, two and three bytes. */
const sizes = [1, 2, 16, 17, 127, 128, 129, 300];

/** The node on top of `items`, and its hash. */
function nodeOf(items: (string | Uint8Array | (string | Uint8Array)[])[]) {
  const node = RLP.encode(items);
  return { node, hash: keccak256(node, 'bytes'), root: keccak256(node) };
}

/** A branch whose children are at these nibbles. */
function branchOf(children: Record<number, Uint8Array>, value: Uint8Array = new Uint8Array()) {
  const none = new Uint8Array();
  return nodeOf([...Array.from({ length: 16 }, (_, nibble) => children[nibble] ?? none), value]);
}

const path = (hex: string) => hexToBytes(`0x${hex}`);
const value = encodeReceipt({ type: 2 }, 50_000);

for (const size of sizes) {
  test(`follows each path of a block with ${size} transactions, and finds nothing else under its index`, async () => {
    const receipts = mixedReceipts(size);
    const { block, inclusionOf } = await inventBlock(receipts);
    const root = block.receiptsRoot as Hex;
    for (const [index, receipt] of receipts.entries()) {
      const nodes = (await inclusionOf(index)).nodes.map((node) => hexToBytes(node));
      assert.deepEqual(receiptAt(index, root, nodes), encodeReceipt(receipt, 50_000 * (index + 1)));
      // Of a large block, what is wrong is tried with some.
      if (index > 16 && index % 37 !== 0) continue;
      for (const other of [0, 1, 15, 16, 127, 128, 255, 256, index - 1, index + 1, 2 ** 32 - 1]) {
        if (other === index || other < 0) continue;
        assert.throws(() => receiptAt(other, root, nodes), /EvmFault/, `${other} instead of ${index}`);
      }
      for (const [place, node] of nodes.entries()) {
        assert.throws(() => receiptAt(index, root, nodes.toSpliced(place, 1)), /EvmFault/);
        assert.throws(() => receiptAt(index, root, nodes.toSpliced(place, 0, node)), /EvmFault/);
        const cut = nodes.with(place, node.subarray(0, -1));
        assert.throws(() => receiptAt(index, root, cut), /is not the one that the (header|node)/);
      }
      assert.throws(() => receiptAt(index, root, [...nodes, value]), /more nodes follow/);
    }
    assert.throws(() => receiptAt(0, root, []), /the nodes end before a receipt/);
  });
}

test('no node of a receipt trie is so short that it would be part of its parent', async () => {
  // The smallest receipts that there are.
  const { inclusionOf } = await inventBlock(Array.from({ length: 300 }, () => ({ succeeded: false })));
  for (let index = 0; index < 300; index += 1) {
    const { nodes } = await inclusionOf(index);
    assert.ok(nodes.every((node) => hexToBytes(node).length >= 32));
  }
});

test('refuses a trie with nodes inside nodes, which is not one of receipts', async () => {
  const trie = await createMPT();
  // So short that the leaves are inside the branch.
  for (let index = 0; index < 20; index += 1) await trie.put(RLP.encode(index), path('c0'));
  const nodes = await createMerkleProof(trie, RLP.encode(3));
  const hashed = nodes.filter((node, place) => place === 0 || node.length >= 32);
  assert.ok(hashed.length < nodes.length);
  for (const given of [nodes, hashed]) {
    assert.throws(
      () => receiptAt(3, bytesToHex(trie.root()), given),
      /the reference to the next node in node \d is not bytes/,
    );
  }
});

test('follows extensions and branches to a leaf, whatever the length of its path', () => {
  // The key of index 0x1234 is 82 12 34.
  const leaf = nodeOf([path('34'), value]);
  const low = branchOf({ 3: leaf.hash });
  const middle = nodeOf([path('0012'), low.hash]);
  const top = branchOf({ 2: middle.hash });
  const first = nodeOf([path('18'), top.hash]);
  const nodes = [first, top, middle, low, leaf].map(({ node }) => node);
  assert.deepEqual(receiptAt(0x1234, first.root, nodes), value);
  for (const other of [0x1235, 0x1334, 0x34, 0x123, 0x12345, 0]) {
    assert.throws(() => receiptAt(other, first.root, nodes), /EvmFault/, `${other}`);
  }
  const whole = nodeOf([path('20821234'), value]);
  assert.deepEqual(receiptAt(0x1234, whole.root, [whole.node]), value);
  // A leaf whose path is empty.
  const bare = nodeOf([path('20'), value]);
  const last = branchOf({ 5: bare.hash });
  const above = branchOf({ 0: last.hash });
  assert.deepEqual(receiptAt(5, above.root, [above.node, last.node, bare.node]), value);
});

test('refuses paths with a wrong prefix, nodes of another form, and references that are no hashes', () => {
  const alone = (items: Parameters<typeof nodeOf>[0]) => {
    const { node, root } = nodeOf(items);
    return () => receiptAt(0, root, [node]);
  };
  // The key of index 0 is 80.
  assert.deepEqual(alone([path('2080'), value])(), value);
  for (const prefix of ['', '80', '4080', '6080', 'a080', '2180', '2f80']) {
    assert.throws(alone([path(prefix), value]), /the path in node 0 has a wrong prefix/, prefix);
  }
  // As an extension, an empty path leads nowhere; and 32 bytes are a hash, not a receipt.
  assert.throws(alone([path('00'), new Uint8Array(32)]), /wrong prefix/);
  assert.throws(alone([path('0080'), new Uint8Array(32)]), /the nodes end before a receipt/);
  assert.throws(alone([path('0080'), value]), /the reference to the next node in node 0 is not 32 bytes/);
  for (const other of ['3080', '20', '208000', '38', '2081']) {
    assert.throws(alone([path(other), value]), /node 0 does not lead to index 0/, other);
  }
  assert.throws(alone([[path('2080')], value]), /the path in node 0 is not bytes/);
  assert.throws(alone([path('2080'), [value]]), /the receipt in node 0 is not bytes/);
  for (const count of [0, 1, 3, 16, 18]) {
    assert.throws(alone(Array.from({ length: count }, () => path('2080'))), /items, not 2 or 17/);
  }
  const text = hexToBytes(keccak256(value));
  assert.throws(() => receiptAt(0, keccak256(text), [text]), /canonical RLP|is not a list/);
});

test('takes no receipt from a branch, and no branch for a receipt', () => {
  // The key of index 0 ends here, so its value would be the one of the branch.
  const deep = branchOf({}, value);
  const low = branchOf({ 0: deep.hash });
  const top = branchOf({ 8: low.hash });
  const nodes = [top.node, low.node, deep.node];
  assert.throws(() => receiptAt(0, top.root, nodes), /the reference to the next node in node 2 is not bytes/);
  // A hash in that place is not a reference either.
  const leaf = nodeOf([path('20'), value]);
  const pretended = branchOf({ 0: branchOf({}, leaf.hash).hash });
  const root = branchOf({ 8: pretended.hash });
  assert.throws(
    () => receiptAt(0, root.root, [root.node, pretended.node, branchOf({}, leaf.hash).node, leaf.node]),
    /the reference to the next node in node 2 is not bytes/,
  );
  // Nodes of another path of the same trie.
  const other = branchOf({ 1: leaf.hash });
  const both = branchOf({ 0: other.hash, 8: branchOf({ 0: leaf.hash }).hash });
  assert.throws(
    () => receiptAt(0, both.root, [both.node, other.node, leaf.node]),
    /is not the one that the node/,
  );
  assert.equal(bytesToHex(receiptAt(1, both.root, [both.node, other.node, leaf.node])), bytesToHex(value));
});
