/** Merkle trees and batches against those of OpenZeppelin. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, test } from 'node:test';
import { SimpleMerkleTree } from '@openzeppelin/merkle-tree';
import { concat as concatHex, type Hex, keccak256 } from 'viem';
import { fc } from '../../test/support/service/properties.ts';
import { buildSubtrees, buildTop, joinPath } from '../anchoring/batching/batch.ts';
import { fromHex, toHex } from './hex.ts';
import { loadKeccak, plainKeccak } from './keccak.ts';
import { buildTree, foldPath, hashBytes } from './merkle.ts';

let keccak: Awaited<ReturnType<typeof loadKeccak>>;
before(async () => {
  keccak = await loadKeccak();
});

test('both Keccaks agree, and the next call does not overwrite a result', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      const first = keccak(bytes);
      keccak(new Uint8Array([1, 2, 3]));
      assert.equal(toHex(first), toHex(plainKeccak(bytes)));
    }),
  );
});

test("roots and paths match OpenZeppelin's tree for every size up to 130", () => {
  for (let size = 1; size <= 130; size += 1) expectSameTree(leavesOf(size, 'every size'), samplePlaces(size));
});

test('roots and paths match for sizes up to 300 with any leaves', () => {
  fc.assert(
    fc.property(fc.integer({ min: 131, max: 300 }), fc.string(), (size, seed) =>
      expectSameTree(leavesOf(size, seed), samplePlaces(size)),
    ),
    { numRuns: 25 },
  );
});

for (const size of [1000, 4096]) {
  test(`root and all paths of ${size} leaves match OpenZeppelin's tree`, () => {
    expectSameTree(leavesOf(size, 'large'));
  });
}

test("trees with equal and nearly equal leaves match OpenZeppelin's", () => {
  // Few different leaves with long common prefixes: ties within and beyond the first 32 bits.
  const leaf = fc
    .tuple(fc.constantFrom(0, 1, 255), fc.constantFrom(0, 3, 4, 31), fc.nat(2))
    .map(([fill, place, value]) => {
      const bytes = new Uint8Array(hashBytes).fill(fill);
      bytes[place] = value;
      return bytes;
    });
  const random = fc.uint8Array({ minLength: hashBytes, maxLength: hashBytes });
  fc.assert(
    fc.property(fc.array(fc.oneof(leaf, random), { minLength: 1, maxLength: 40, size: 'max' }), (leaves) =>
      expectSameTree(concat(leaves), samplePlaces(leaves.length)),
    ),
  );
});

test('leaves may lie inside a larger buffer, and are not changed', () => {
  const buffer = new Uint8Array(3 + 32 * 5);
  buffer.set(leavesOf(5, 'inside'), 3);
  const before = buffer.slice();
  const tree = buildTree(buffer.subarray(3), keccak);
  assert.deepEqual(tree.root, buildTree(leavesOf(5, 'inside'), keccak).root);
  assert.deepEqual(buffer, before);
});

test('refuses an empty tree, a partial leaf, and the path of a missing leaf', () => {
  assert.throws(() => buildTree(new Uint8Array(0), keccak), /whole leaves/);
  assert.throws(() => buildTree(new Uint8Array(33), keccak), /whole leaves/);
  assert.throws(() => buildTree(new Uint8Array(64), keccak).path(2), /no leaf 2/);
});

test("subtrees and top tree of a batch match OpenZeppelin's, and each path leads over the seal to the root", () => {
  const shapes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 25 });
  fc.assert(
    fc.property(shapes, (sizes) => {
      const vaults = sizes.map((size, place) => ({
        vault: `vault ${place}`,
        leaves: leavesOf(size, `vault ${place}`),
      }));
      const subtrees = buildSubtrees(vaults, keccak);
      const sealIds = leavesOf(sizes.length, 'seals');
      const headId = leavesOf(1, 'head');
      const top = buildTop({ roots: concat(subtrees.map(({ root }) => root)), sealIds, headId }, keccak);
      const theirs = vaults.map(({ leaves }) => theirTree(leaves));
      const sealAt = (place: number) => sealIds.subarray(place * hashBytes, (place + 1) * hashBytes);
      const pairs = theirs.map(({ root }, place) => fromHex(pairOf(root, toHex(sealAt(place)))));
      const theirTop = theirTree(concat([...pairs, headId]));
      assert.equal(toHex(top.root), theirTop.root);
      assert.deepEqual(split(top.headPath), theirTop.path(sizes.length));
      vaults.forEach(({ vault, leaves }, place) => {
        const { root, size, vault: named, path } = subtrees[place] ?? assert.fail();
        assert.deepEqual([named, toHex(root), size], [vault, theirs[place]?.root, sizes[place]]);
        const upper = top.upperPaths[place] ?? assert.fail();
        assert.deepEqual(split(upper), theirTop.path(place));
        for (const leaf of new Set([0, (size - 1) >> 1, size - 1])) {
          const lower = path(leaf);
          assert.deepEqual(split(lower), theirs[place]?.path(leaf));
          const whole = joinPath({ lower, sealId: sealAt(place), upper });
          const start = leaves.subarray(leaf * hashBytes, (leaf + 1) * hashBytes);
          assert.equal(toHex(foldPath(start, whole, plainKeccak)), theirTop.root);
        }
      });
    }),
    { numRuns: 40 },
  );
});

test('a batch names each vault once', () => {
  const vault = { vault: '0x01', leaves: leavesOf(1, 'once') };
  assert.throws(() => buildSubtrees([vault, vault], keccak), /each vault once/);
});

/** The hash of a pair, as OpenZeppelin's MerkleProof makes it. */
function pairOf(one: string, other: string): Hex {
  const [first, second] = [one, other].sort() as [Hex, Hex];
  return keccak256(concatHex([first, second]));
}

function expectSameTree(leaves: Uint8Array, places?: number[]): void {
  const theirs = theirTree(leaves);
  const ours = buildTree(leaves, keccak);
  assert.equal(toHex(ours.root), theirs.root);
  assert.equal(ours.size, theirs.size);
  for (const place of places ?? Array.from({ length: ours.size }, (_, place) => place)) {
    assert.deepEqual(split(ours.path(place)), theirs.path(place));
  }
}

/**
 * OpenZeppelin's tree, with paths read from its nodes: its getProof hashes the whole tree again, so it is called only once.
 */
function theirTree(leaves: Uint8Array): { root: string; size: number; path(place: number): string[] } {
  // It creates an error for each leaf without throwing it; without stack traces that takes a third less time.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const theirs = SimpleMerkleTree.of(split(leaves));
  Error.stackTraceLimit = stackTraceLimit;
  const { tree, values } = theirs.dump();
  const path = (place: number) => {
    const siblings: string[] = [];
    // The children of node n are 2n + 1 and 2n + 2.
    for (let node = values[place]?.treeIndex ?? -1; node > 0; node = (node - 1) >> 1)
      siblings.push(tree[node % 2 === 1 ? node + 1 : node - 1] ?? '');
    return siblings;
  };
  const last = theirs.length - 1;
  assert.deepEqual(path(last), theirs.getProof(last));
  return { root: theirs.root, size: theirs.length, path };
}

function samplePlaces(size: number): number[] {
  return [...new Set([0, 1, size >> 1, size - 2, size - 1])].filter((place) => place >= 0 && place < size);
}

function leavesOf(count: number, seed: string): Uint8Array {
  return concat(
    Array.from({ length: count }, (_, place) => createHash('sha256').update(`${seed} ${place}`).digest()),
  );
}

function concat(pieces: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.length * hashBytes);
  pieces.forEach((piece, place) => {
    whole.set(piece, place * hashBytes);
  });
  return whole;
}

function split(bytes: Uint8Array): string[] {
  return Array.from({ length: bytes.length / hashBytes }, (_, place) =>
    toHex(bytes.subarray(place * hashBytes, (place + 1) * hashBytes)),
  );
}

test('reads hex in either case, and refuses anything else', () => {
  assert.deepEqual(fromHex('0x00fFAb'), new Uint8Array([0, 255, 171]));
  for (const wrong of ['0x0', '00', '0xgg', '0x/:', '0x@`']) assert.throws(() => fromHex(wrong), /not hex/);
});
