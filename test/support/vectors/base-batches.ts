/** The things that the vectors are about, in the batches that anchored them: fixed keys, fixed blocks, always the same bytes. */
import type { Hex } from 'viem';
import type { Anchor, EvmAnchor, Proof } from '../../../src/proof/verify/proof.ts';
import { fixed, type Made, makeProofs, type Thing, utf8 } from '../fixtures/proof-fixture.ts';
import { trustOf, type Vector } from './vector.ts';

export const vaultKeys: { first: Hex; second: Hex; stranger: Hex } = {
  first: fixed(0x11),
  second: fixed(0x22),
  stranger: fixed(0x33),
};

export const firstBlock = { chainId: 1, blockNumber: 21_000_000, blockTime: 1_794_709_170 };
/** When that block was made. */
export const firstTime = '2026-11-15T02:19:30Z';
/** The usual time of judgement. */
export const judgedAt = '2026-12-01T00:00:00Z';

export interface BaseThing extends Made {
  content: string;
}

export type BaseName =
  | 'file-raw'
  | 'record-jcs'
  | 'file-hmac'
  | 'second-vault'
  | 'second-version'
  | 'single-leaf';

/** Its canonical form differs in everything that a form can differ in: spelling of numbers and texts, order, blanks. */
const recordText =
  '{ "temperature": 4.50, "peach": "Zoë paid 3 €",\n  "numbers": [333333333.33333331, 1e-27, -0, 0.002, 1E2], "\\u20ac": null, "\\ud83d\\ude00": "after \\ufb33?", "\\ufb33": true }';
const smallRecord = '{"b":2,"a":1}';
const fileId = 'fil_01M7EG19SH3FMASFKSTVVAKF4G';

const firstThings: (Thing & { text: string })[] = [
  thing({
    ...{ kind: 'file', id: fileId, canonicalization: 'raw', key: vaultKeys.first },
    text: 'Holdfast keeps evidence.\n',
    claims: { name: 'note.txt', size: 25, mediaType: 'text/plain' },
  }),
  thing({
    ...{
      kind: 'record',
      id: 'rec_01M7EG19WZC3MEP1XA1TZF38CS',
      canonicalization: 'jcs',
      key: vaultKeys.first,
    },
    ...{ text: recordText, salt: fixed(0xa1), claims: { externalId: 'shipment-7' } },
  }),
  thing({
    ...{ kind: 'file', id: 'fil_01M7EG19Y7D9BX8S3Y3SM4JS6E', canonicalization: 'hmac-sha256' },
    ...{ text: 'yes\n', salt: fixed(0xa2), claims: { name: 'vote.txt' }, key: vaultKeys.first },
  }),
  thing({
    ...{
      kind: 'record',
      id: 'rec_01M7EG1A5RW25ZA7S72BGKQKMZ',
      canonicalization: 'jcs',
      key: vaultKeys.second,
    },
    ...{ text: smallRecord, salt: fixed(0xa3), claims: { externalId: '' } },
  }),
  thing({
    ...{
      kind: 'record',
      id: 'rec_01M7EG1A7Q2D0V5GFMXJ2N8S4Y',
      canonicalization: 'jcs',
      key: vaultKeys.second,
    },
    ...{ text: smallRecord, salt: fixed(0xa4), claims: { externalId: '' } },
  }),
];

/** Makes all of them: about 0.1 s. */
export async function makeBaseThings(): Promise<Record<BaseName, BaseThing>> {
  const [file, record, hmac, other] = await batchOf(firstThings, { ...firstBlock, sequence: 1 });
  if (!file || !record || !hmac || !other) throw new Error('the first batch has five things');
  const secondThings = [
    thing({
      ...{ kind: 'file', id: fileId, canonicalization: 'raw', version: 2, previousLeaf: file.leaf },
      ...{ text: 'Holdfast keeps evidence, and says so.\n', key: vaultKeys.first },
      claims: { name: 'note.txt', size: 38, mediaType: 'text/plain' },
    }),
    thing({
      ...{ kind: 'record', id: 'rec_01M7EG1AKC6R1Y4P0W8T3Z9B5D', canonicalization: 'jcs' },
      ...{ text: smallRecord, salt: fixed(0xa5), claims: { externalId: '' }, key: vaultKeys.first },
    }),
  ];
  const secondBlock = { chainId: 1, blockNumber: 21_000_005, blockTime: 1_794_709_230 };
  const [version] = await batchOf(secondThings, { ...secondBlock, sequence: 2, previousSeal: file.sealId });
  const alone = thing({
    ...{
      kind: 'record',
      id: 'rec_01M7EG1C00000000000000000Z',
      canonicalization: 'jcs',
      key: vaultKeys.second,
    },
    ...{ text: smallRecord, salt: fixed(0xa6), claims: { externalId: '' } },
  });
  const thirdBlock = { chainId: 1, blockNumber: 21_000_006, blockTime: 1_794_709_242 };
  const [single] = await batchOf([alone], { ...thirdBlock, sequence: 2, previousSeal: other.sealId });
  if (!version || !single) throw new Error('a thing is missing');
  return {
    'file-raw': file,
    'record-jcs': record,
    'file-hmac': hmac,
    'second-vault': other,
    'second-version': version,
    'single-leaf': single,
  };
}

async function batchOf(
  things: (Thing & { text: string })[],
  place: Parameters<typeof makeProofs>[1],
): Promise<BaseThing[]> {
  const made = await makeProofs(things, place);
  return made.map((one, at) => ({ ...one, content: things[at]?.text ?? '' }));
}

function thing({ text, ...rest }: Omit<Thing, 'content'> & { text: string }): Thing & { text: string } {
  return { ...rest, text, content: utf8(text) };
}

/** What a verifier is given with a proof of one of these things, if it trusts the block that the proof names. */
export function givenWith(
  { content }: Pick<BaseThing, 'content'>,
  proof: Proof,
): Omit<Vector, 'about' | 'expected'> & { proof: Proof } {
  return {
    proof,
    content: { utf8: content },
    trust: trustOf({ blocks: blocksOf(proof.anchors) }),
    at: judgedAt,
    rpc: null,
  };
}

export function blocksOf(anchors: Anchor[]): { chainId: number; number: number; hash: Hex }[] {
  return anchors
    .filter((anchor): anchor is EvmAnchor => anchor.type === 'evm')
    .map(({ chainId, blockNumber, blockHash }) => ({ chainId, number: blockNumber, hash: blockHash }));
}

export function evmOf({ anchors: [anchor] }: Proof): EvmAnchor {
  return anchor as EvmAnchor;
}
