/** Caching of trees between proofs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MerkleTree } from '../../proof/merkle.ts';
import { createKeptTrees } from './kept-trees.ts';

/** 100 leaves make 199 tree nodes of 32 bytes, plus 4 bytes for the place of each leaf. */
const bytesOfHundred = 199 * 32 + 100 * 4;

function treeOf(size: number): MerkleTree {
  return { root: new Uint8Array(32), size, path: () => new Uint8Array() };
}

test('evicts the least recently used tree first, and stays within its limit of bytes', () => {
  const kept = createKeptTrees(3 * bytesOfHundred);
  for (const name of ['a', 'b', 'c']) kept.keep(name, treeOf(100));
  assert.ok(kept.find('a'));
  kept.keep('d', treeOf(100));
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((name) => kept.find(name) !== undefined),
    [true, false, true, true],
  );
  // Keeping the same tree twice takes its room only once.
  kept.keep('d', treeOf(100));
  assert.ok(kept.find('a'));
  kept.keep('e', treeOf(250));
  assert.deepEqual(
    ['a', 'c', 'd', 'e'].map((name) => kept.find(name) !== undefined),
    [false, false, false, true],
  );
});

test('does not keep a tree larger than the limit, and evicts nothing for it', () => {
  const kept = createKeptTrees(bytesOfHundred);
  kept.keep('small', treeOf(100));
  kept.keep('large', treeOf(101));
  assert.equal(kept.find('large'), undefined);
  assert.ok(kept.find('small'));
});
