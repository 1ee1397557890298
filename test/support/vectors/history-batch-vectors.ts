/** A history of which two leaves are in one batch, under one seal. */
import { historyFormat } from '../../../src/proof/verify/history.ts';
import { makeProofs, type Thing, utf8 } from '../fixtures/proof-fixture.ts';
import { blocksOf, firstBlock, firstTime, judgedAt, vaultKeys } from './base-batches.ts';
import { expect, type NamedVector, trustOf } from './vector.ts';

export async function historyBatchVectors(): Promise<NamedVector[]> {
  const place = { ...firstBlock, sequence: 1 };
  const first: Thing = {
    ...{ kind: 'file', id: 'fil_01M7EG19SH3FMASFKSTVVAKF4G', canonicalization: 'raw' },
    ...{ content: utf8('1\n'), key: vaultKeys.first },
  };
  const [alone] = await makeProofs([first], place);
  if (!alone) throw new Error('nothing was proved');
  const second: Thing = { ...first, content: utf8('2\n'), version: 2, previousLeaf: alone.leaf };
  const proofs = (await makeProofs([first, second], place)).map(({ proof }) => proof);
  const [{ subject, anchors } = alone.proof] = proofs;
  return [
    {
      name: 'history-two-leaves-of-one-seal',
      about: 'Two versions were sealed together: one seal under one number, although it is there twice.',
      proof: { format: historyFormat, subject, proofs },
      ...{ content: null, trust: trustOf({ blocks: blocksOf(anchors) }), at: judgedAt, rpc: null },
      expected: {
        ...{ verdict: 'pass', chain: 'pass' },
        proofs: proofs.map((proof) => expect(proof, { time: firstTime })),
      },
    },
  ];
}
