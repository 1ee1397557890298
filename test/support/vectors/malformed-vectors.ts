/** Documents of another shape: each fails the step that would have used the malformed field, and nothing else is looked at. */
import type { Proof } from '../../../src/proof/verify/proof.ts';
import type { StepName } from '../../../src/proof/verify/steps.ts';
import { fixed } from '../fixtures/proof-fixture.ts';
import { type BaseThing, givenWith } from './base-batches.ts';
import { changed, upperCase } from './changed.ts';
import { commitRoot, stampRoot } from './clocks.ts';
import { anchoredBy, minedAt, stampedAt } from './good-vectors.ts';
import { renewalsFor } from './renewal-vectors.ts';
import { malformed, type NamedVector } from './vector.ts';

/** Name, step that fails, place in the document, and what is there instead. */
type Row = [name: string, failing: StepName, path: string, value: unknown];

const unknown = 'not proved';
const capitals = `0x${'AB'.repeat(32)}`;

/** In a document with every kind of clock and a renewal. */
const rows: Row[] = [
  ['format', 'leaf', 'format', 'holdfast/proof@2'],
  ['kind-upper-case', 'leaf', 'kind', 'Record'],
  ['kind-too-long', 'leaf', 'kind', 'a'.repeat(33)],
  ['kind-with-a-slash', 'leaf', 'kind', 'record/jcs'],
  ['kind-missing', 'leaf', 'kind', undefined],
  ['workspace-with-a-slash', 'leaf', 'subject.workspaceId', 'ws/1'],
  ['workspace-too-long', 'leaf', 'subject.workspaceId', 'w'.repeat(65)],
  ['workspace-a-number', 'leaf', 'subject.workspaceId', 7],
  ['subject-id-empty', 'leaf', 'subject.id', ''],
  ['subject-id-too-long', 'leaf', 'subject.id', 'é'.repeat(256)],
  ['subject-id-with-a-line-break', 'leaf', 'subject.id', 'rec\n1'],
  ['subject-id-with-half-a-character', 'leaf', 'subject.id', 'rec\ud83d'],
  ['subject-null', 'leaf', 'subject', null],
  ['algorithm', 'digest', 'content.algorithm', 'sha-512'],
  ['digest-upper-case', 'digest', 'content.digest', upperCase],
  ['digest-too-short', 'digest', 'content.digest', `0x${'ab'.repeat(31)}`],
  ['canonicalization-unknown', 'digest', 'content.canonicalization', 'JCS'],
  ['salt-too-long', 'digest', 'content.salt', `0x${'ab'.repeat(33)}`],
  ['salt-of-raw-content', 'digest', 'content', rawWithSalt],
  ['claims-missing', 'claims', 'claims', undefined],
  ['claims-a-list', 'claims', 'claims', [{ salt: fixed(0x5a) }]],
  ['claims-a-list-of-its-name', 'claims', 'claims', ['salt']],
  ['claims-a-text', 'claims', 'claims', 'salt'],
  ['claims-without-salt', 'claims', 'claims.salt', undefined],
  ['claims-salt-too-short', 'claims', 'claims.salt', '0x5a'],
  ['types-widened', 'leaf', 'leaf.types[4]', 'uint256 version'],
  ['types-renamed', 'leaf', 'leaf.types[4]', 'uint64 revision'],
  ['types-one-more', 'leaf', 'leaf.types[8]', 'bytes32 more'],
  ['values-one-more', 'leaf', 'leaf.values[8]', fixed(0x99)],
  ['version-zero', 'leaf', 'leaf.values[4]', '0'],
  ['version-with-leading-zero', 'leaf', 'leaf.values[4]', '01'],
  ['version-beyond-uint64', 'leaf', 'leaf.values[4]', '18446744073709551616'],
  ['version-a-number', 'leaf', 'leaf.values[4]', 1],
  ['leaf-subject-upper-case', 'leaf', 'leaf.values[3]', upperCase],
  ['leaf-vault-upper-case', 'leaf', 'leaf.values[6]', upperCase],
  ['path-upper-case', 'path', 'merkle.proof[0]', upperCase],
  ['path-of-66', 'path', 'merkle.proof', Array.from({ length: 66 }, () => fixed(0x01))],
  ['root-without-0x', 'path', 'merkle.root', (root: string) => root.slice(2)],
  ['size-negative', 'path', 'merkle.size', -1],
  ['size-with-a-fraction', 'path', 'merkle.size', 5.5],
  ['size-beyond-2-53', 'path', 'merkle.size', 2 ** 53],
  ['depth-65', 'path', 'seal.depth', 65],
  ['depth-missing', 'path', 'seal.depth', undefined],
  ['depth-a-string', 'path', 'seal.depth', '2'],
  ['seal-null', 'seal', 'seal', null],
  ['seal-a-list', 'seal', 'seal', []],
  ['seal-missing', 'seal', 'seal', undefined],
  ['content-missing', 'digest', 'content', undefined],
  ['leaf-missing', 'leaf', 'leaf', undefined],
  ['merkle-missing', 'path', 'merkle', undefined],
  ['seal-vault-upper-case', 'seal', 'seal.vault', upperCase],
  ['subtree-root-upper-case', 'seal', 'seal.subtreeRoot', upperCase],
  ['leaves-beyond-uint32', 'seal', 'seal.leaves', 2 ** 32],
  ['sequence-zero', 'seal', 'seal.sequence', '0'],
  ['sequence-with-leading-zero', 'seal', 'seal.sequence', '01'],
  ['sequence-a-number', 'seal', 'seal.sequence', 1],
  ['sequence-beyond-uint64', 'seal', 'seal.sequence', '18446744073709551616'],
  ['previous-seal-missing', 'seal', 'seal.previousSeal', undefined],
  ['previous-seal-upper-case', 'seal', 'seal.previousSeal', capitals],
  ['signature-upper-case', 'seal', 'seal.signature', upperCase],
  ['signature-of-64-bytes', 'seal', 'seal.signature', (text: string) => text.slice(0, -2)],
  ['signature-of-66-bytes', 'seal', 'seal.signature', (text: string) => `${text}00`],
  ['anchors-none', 'time', 'anchors', []],
  ['anchors-17', 'time', 'anchors', Array.from({ length: 17 }, () => ({ type: 'other' }))],
  ['anchors-missing', 'time', 'anchors', undefined],
  ['anchor-type-upper-case', 'time', 'anchors[0].type', 'Evm'],
  ['anchor-type-too-long', 'time', 'anchors[0].type', 'a'.repeat(33)],
  ['anchor-without-type', 'time', 'anchors[0].type', undefined],
  ['anchor-null', 'time', 'anchors[0]', null],
  ['chain-id-a-string', 'time', 'anchors[0].chainId', '1'],
  ['contract-upper-case', 'time', 'anchors[0].contract', upperCase],
  ['submitter-upper-case', 'time', 'anchors[0].submitter', upperCase],
  ['transaction-hash-upper-case', 'time', 'anchors[0].transactionHash', upperCase],
  ['block-hash-upper-case', 'time', 'anchors[0].blockHash', upperCase],
  ['block-time-a-date', 'time', 'anchors[0].blockTime', '2026-11-15T02:19:30Z'],
  ['block-number-negative', 'time', 'anchors[0].blockNumber', -1],
  ['inclusion-missing', 'time', 'anchors[0].inclusion', undefined],
  ['inclusion-header-upper-case', 'time', 'anchors[0].inclusion.header', upperCase],
  ['inclusion-header-half-a-byte', 'time', 'anchors[0].inclusion.header', (hex: string) => hex.slice(0, -1)],
  ['inclusion-header-empty', 'time', 'anchors[0].inclusion.header', '0x'],
  ['inclusion-index-beyond-uint32', 'time', 'anchors[0].inclusion.index', 2 ** 32],
  ['inclusion-node-upper-case', 'time', 'anchors[0].inclusion.nodes[0]', upperCase],
  ['inclusion-without-nodes', 'time', 'anchors[0].inclusion.nodes', []],
  [
    'inclusion-17-nodes',
    'time',
    'anchors[0].inclusion.nodes',
    ([node]: string[]) => Array.from({ length: 17 }, () => node),
  ],
  ['renewals-missing', 'time', 'renewals', undefined],
  ['renewals-17', 'time', 'renewals', ([renewal]: unknown[]) => Array.from({ length: 17 }, () => renewal)],
  ['renewal-covers-null', 'time', 'renewals[0].covers', null],
  ['renewal-covers-minus-one', 'time', 'renewals[0].covers.anchor', -1],
  ['renewal-covers-renewal-minus-one', 'time', 'renewals[0].covers.renewal', -1],
  ['renewal-path-upper-case', 'time', 'renewals[0].path', [capitals]],
  ['renewal-proof-upper-case', 'time', 'renewals[0].proof[0]', capitals],
  ['renewal-evidence-upper-case', 'time', 'renewals[0].head.evidenceRoot', capitals],
  ['renewal-log-upper-case', 'time', 'renewals[0].head.logHead', capitals],
  ['renewal-root-upper-case', 'time', 'renewals[0].root', capitals],
  ['renewal-size-negative', 'time', 'renewals[0].size', -1],
  ['renewal-anchor-type-upper-case', 'time', 'renewals[0].anchors[0]', { type: 'Evm' }],
  ['renewal-path-of-66', 'time', 'renewals[0].path', Array.from({ length: 66 }, () => fixed(0x01))],
  ['renewal-proof-of-66', 'time', 'renewals[0].proof', Array.from({ length: 66 }, () => fixed(0x01))],
  ['renewal-head-without-log', 'time', 'renewals[0].head.logHead', undefined],
  ['renewal-without-anchors', 'time', 'renewals[0].anchors', []],
  // Members that the format does not have.
  ['unknown-in-document', 'leaf', 'verified', true],
  ['unknown-in-document-constructor', 'leaf', 'constructor', unknown],
  ['unknown-in-document-like-a-part', 'leaf', 'claims-of-others', unknown],
  ['unknown-in-subject', 'leaf', 'subject.name', unknown],
  ['unknown-in-content', 'digest', 'content.name', unknown],
  ['unknown-in-leaf', 'leaf', 'leaf.hash', fixed(0x01)],
  ['unknown-in-merkle', 'path', 'merkle.index', 1],
  ['unknown-in-seal', 'seal', 'seal.signer', unknown],
  ['unknown-in-evm', 'time', 'anchors[0].rpc', 'https://node.example'],
  ['unknown-in-inclusion', 'time', 'anchors[0].inclusion.number', 1],
  ['unknown-in-rfc3161', 'time', 'anchors[1].time', '2026-11-15T02:30:00Z'],
  ['unknown-in-opentimestamps', 'time', 'anchors[2].height', 925_000],
  ['unknown-in-bitcoin-header', 'time', 'anchors[2].headers[0].hash', fixed(0x01)],
  ['unknown-in-renewal', 'time', 'renewals[0].time', unknown],
  ['unknown-in-covers', 'time', 'renewals[0].covers.type', 'rfc3161'],
  ['unknown-in-head', 'time', 'renewals[0].head.number', 1],
  // Of rfc3161 and opentimestamps.
  ['certificates-missing', 'time', 'anchors[1].certificates', undefined],
  ['crls-a-string', 'time', 'anchors[1].crls', ''],
  ['token-null', 'time', 'anchors[1].token', null],
  ['ots-without-padding', 'time', 'anchors[2].proof', 'AE9wZW4'],
  ['ots-with-a-line-break', 'time', 'anchors[2].proof', (text: string) => `${text}\n`],
  ['ots-with-bits-that-belong-to-no-byte', 'time', 'anchors[2].proof', 'AE9wZW5='],
  ['ots-with-bits-that-belong-to-no-byte-2', 'time', 'anchors[2].proof', 'AE9wZR=='],
  ['ots-of-the-other-alphabet', 'time', 'anchors[2].proof', (text: string) => `${text.slice(0, -4)}_-AA`],
  ['ots-empty', 'time', 'anchors[2].proof', ''],
  ['ots-of-65539-bytes', 'time', 'anchors[2].proof', 'A'.repeat(87_388)],
  ['ots-17-headers', 'time', 'anchors[2].headers', seventeen],
  ['ots-height-twice', 'time', 'anchors[2].headers', (headers: unknown[]) => [...headers, ...headers]],
  ['ots-height-beyond-uint32', 'time', 'anchors[2].headers[0].height', 2 ** 32],
  ['ots-header-of-79-bytes', 'time', 'anchors[2].headers[0].header', (header: string) => header.slice(0, -2)],
];

function rawWithSalt(content: object): object {
  return { ...content, canonicalization: 'raw' };
}

function seventeen([first]: { height: number }[]): unknown[] {
  return Array.from({ length: 17 }, (_, height) => ({ ...first, height }));
}

export async function malformedVectors(record: BaseThing): Promise<NamedVector[]> {
  const { proof } = record;
  const { root } = proof.merkle;
  const stamp = stampRoot(root, { at: stampedAt });
  const bitcoin = commitRoot(root, { height: 925_000, at: minedAt });
  const other = { type: 'witness-log' };
  const [renewal] = await renewalsFor(stamp.token, { renewal: null, anchor: 1 });
  if (!renewal) throw new Error('nothing was renewed');
  const full: Proof = {
    ...anchoredBy(proof, other, stamp.anchor, bitcoin.anchor),
    renewals: [{ ...renewal, anchors: [other] }],
  };
  const given = givenWith(record, proof);
  // Small where it can be.
  const sourceOf = (path: string) => (/^(anchors\[[12]|renewals)/.test(path) ? full : proof);
  const several = changed(changed(proof, 'seal.sequence', 7), 'content.digest', null);
  return [
    ...rows.map(([name, failing, path, value]) => ({
      name: `malformed-${name}`,
      about: `${path} is malformed, so the document is not looked at: ${name.replaceAll('-', ' ')}.`,
      ...given,
      proof: changed(sourceOf(path), path, value),
      expected: malformed(failing),
    })),
    {
      name: 'malformed-several',
      about: 'Two parts are malformed, and both steps fail.',
      ...{ ...given, proof: several },
      expected: malformed('digest', 'seal'),
    },
    ...['null', '[]', '"holdfast/proof@1"', '7'].map((document, place) => ({
      name: `malformed-no-object-${place + 1}`,
      about: 'The document is JSON, but no object.',
      ...{ ...given, proof: undefined, document },
      expected: malformed('leaf'),
    })),
  ];
}
