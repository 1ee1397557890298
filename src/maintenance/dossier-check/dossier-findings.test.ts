/** Which proofs of a dossier have nothing but the clock of an operator. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coverItem, makeClockedProof } from '../../../test/support/fixtures/clocked-proof.ts';
import { fromHex } from '../../proof/hex.ts';
import type { Proof } from '../../proof/verify/proof.ts';
import { createFindings } from './dossier-findings.ts';

function isOperatorOnly(proof: Proof): boolean {
  const findings = createFindings();
  findings.clocksOf(proof);
  return findings.proofs.operatorOnly === 1;
}

test('a proof has only the word of an operator if no other clock is in it, not even in a later batch', async () => {
  const { proof, evm } = await makeClockedProof();
  const on = (chainId: number) => ({ ...proof, anchors: [{ ...evm, chainId }] });
  assert.deepEqual([1, 31_337, 11_155_111].map(on).map(isOperatorOnly), [false, true, true]);
  const [, token] = proof.anchors;
  assert.ok(token);
  assert.equal(isOperatorOnly({ ...proof, anchors: [...on(31_337).anchors, token] }), false);
  const { renewal } = await coverItem(fromHex(proof.merkle.root), evm.blockTime * 1000 + 60_000);
  const renewals = [{ covers: { renewal: null, anchor: null }, ...renewal }];
  assert.equal(isOperatorOnly({ ...on(31_337), renewals }), false);
});
