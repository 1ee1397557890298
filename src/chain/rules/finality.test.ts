/** Which blocks are final, by tag or by depth. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownChain, knownChains } from '../../proof/evm/known-chains.ts';
import { finalByDepth, finalityRule } from './finality.ts';

test('uses the finalized tag on the known chains, and depth everywhere else', () => {
  for (const { chainId, genesisHash, finality } of knownChains) {
    assert.equal(finalityRule({ chainId, genesisHash }), finality);
    assert.equal(finalityRule({ chainId, genesisHash: `0x${'11'.repeat(32)}` }), 256);
  }
  const genesisHash = knownChain(1)?.genesisHash ?? assert.fail();
  for (const chainId of [56, 424_242, 1_500_000_000]) {
    assert.equal(finalityRule({ chainId, genesisHash }), 256);
  }
});

test('nothing is final by depth on a chain that is too short', () => {
  assert.deepEqual([finalByDepth(1, 2), finalByDepth(2, 2), finalByDepth(300, 256)], [-1, 0, 44]);
});
