/** Which blocks are final, by tag or by depth. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finalByDepth, finalityRule } from './finality.ts';

test('uses the finalized tag on chains where it can be trusted, and depth everywhere else', () => {
  for (const chainId of [1, 100, 8_453, 42_161]) {
    assert.deepEqual(finalityRule({ chainId, embedded: false }), { by: 'tag' });
  }
  for (const chainId of [56, 137, 424_242]) {
    assert.deepEqual(finalityRule({ chainId, embedded: false }), { by: 'depth', blocks: 256 });
  }
});

test('the embedded chain is final two blocks below its head, even under the id of a public chain', () => {
  for (const chainId of [1, 1_500_000_000]) {
    assert.deepEqual(finalityRule({ chainId, embedded: true }), { by: 'depth', blocks: 2 });
  }
});

test('nothing is final by depth on a chain that is too short', () => {
  assert.deepEqual([finalByDepth(1, 2), finalByDepth(2, 2), finalByDepth(300, 256)], [-1, 0, 44]);
});
