/** The form of each member of a document, not looked at, and the step that it fails: a vector has to turn red. */
import { mutationsOf } from './mutation.ts';

const vectors = ['src/proof/verify/vectors.test.ts'];
const why = 'What a verifier is not made for would be looked at, and two of them would differ.';

/** Where it is in the document, and what checks it; the text is long enough to occur once. */
const members: [path: string, text: string, check: string][] = [
  ['format', 'format: exactly(proofFormat)', 'exactly(proofFormat)'],
  [
    'kind',
    "kind: matching(/^[a-z][a-z0-9-]{0,31}$/u, 'a name of lower-case letters, digits and hyphens')",
    "matching(/^[a-z][a-z0-9-]{0,31}$/u, 'a name of lower-case letters, digits and hyphens')",
  ],
  [
    'subject.workspaceId',
    "workspaceId: matching(/^[A-Za-z0-9_-]{1,64}$/u, 'an id of letters, digits, _ and -')",
    "matching(/^[A-Za-z0-9_-]{1,64}$/u, 'an id of letters, digits, _ and -')",
  ],
  ['content.algorithm', "algorithm: exactly('sha-256')", "exactly('sha-256')"],
  ['content.digest', 'digest: hash,', 'hash'],
  ['content.canonicalization', 'canonicalization: oneOf(canonicalizations)', 'oneOf(canonicalizations)'],
  ['content.salt', 'salt: nullOr(hash)', 'nullOr(hash)'],
  ['claims.salt', 'objectOf({ salt: hash }', 'hash'],
  ['leaf.values[3]', 'eachOf([hash, hash, hash, hash, uint64', 'hash'],
  ['leaf.values[4]', ', uint64, hash', 'uint64'],
  ['leaf.values[6]', ', address, hash]', 'address'],
  ['merkle.proof', '    proof: eachOf(hash, { max: maxPathLength }),\n    root', 'hash'],
  ['merkle.root', 'maxPathLength }),\n    root: hash', 'hash'],
  ['merkle.size', '    root: hash,\n    size: safeInteger', 'safeInteger'],
  ['seal.vault', 'vault: address', 'address'],
  ['seal.subtreeRoot', 'subtreeRoot: hash', 'hash'],
  ['seal.depth', 'depth: integerUpTo(maxPathLength - 1)', 'integerUpTo(maxPathLength - 1)'],
  ['seal.leaves', 'leaves: integerUpTo(2 ** 32 - 1)', 'integerUpTo(2 ** 32 - 1)'],
  ['seal.sequence', 'sequence: uint64', 'uint64'],
  ['seal.previousSeal', 'previousSeal: hash', 'hash'],
  ['seal.signature', 'signature: hexOf(65)', 'hexOf(65)'],
  ['chainId', 'chainId: safeInteger', 'safeInteger'],
  ['contract', 'contract: address', 'address'],
  ['submitter', 'submitter: address', 'address'],
  ['transactionHash', 'transactionHash: hash', 'hash'],
  ['blockNumber', 'blockNumber: safeInteger', 'safeInteger'],
  ['blockHash', 'blockHash: hash', 'hash'],
  ['blockTime', 'blockTime: safeInteger', 'safeInteger'],
  ['inclusion.header', 'header: hexText', 'hexText'],
  ['inclusion.index', 'index: integerUpTo(maxIndex)', 'integerUpTo(maxIndex)'],
  ['inclusion.nodes', 'nodes: eachOf(hexText', 'hexText'],
  ['covers.renewal', 'renewal: nullOr(safeInteger)', 'safeInteger'],
  ['covers.anchor', 'anchor: nullOr(safeInteger)', 'safeInteger'],
  ['path of a renewal', 'path: eachOf(hash', 'hash'],
  ['head.evidenceRoot', 'evidenceRoot: hash', 'hash'],
  ['head.logHead', 'logHead: hash', 'hash'],
  ['proof of a renewal', '  proof: eachOf(hash, { max: maxPathLength }),\n  root', 'hash'],
  ['root of a renewal', 'maxPathLength }),\n  root: hash', 'hash'],
  ['size of a renewal', '  root: hash,\n  size: safeInteger', 'safeInteger'],
  ['anchors', '  anchors: eachOf(checkAnchor, { min: 1, max: maxAnchors }),\n  renewals', 'checkAnchor'],
  [
    'anchors of a renewal',
    '  anchors: eachOf(checkAnchor, { min: 1, max: maxAnchors }),\n});',
    'checkAnchor',
  ],
  ['renewals', 'renewals: eachOf(checkRenewalShape', 'checkRenewalShape'],
];

const proofMembers = mutationsOf(
  'src/proof/verify/proof.ts',
  vectors,
  members.map(([path, text, check]) => [`form of ${path}`, text, withoutCheck(text, check), why]),
);

const bounds = [
  ...mutationsOf('src/proof/verify/proof.ts', vectors, [
    ['15 anchors', 'const maxAnchors = 16;', 'const maxAnchors = 15;', why],
    ['15 renewals', 'const maxRenewals = 16;', 'const maxRenewals = 15;', why],
    ['64 steps', 'export const maxPathLength = 65;', 'export const maxPathLength = 64;', why],
    ['shorter kind', 'kind: matching(/^[a-z][a-z0-9-]{0,31}', 'kind: matching(/^[a-z][a-z0-9-]{0,30}', why],
    ['longer kind', 'kind: matching(/^[a-z][a-z0-9-]{0,31}', 'kind: matching(/^[a-z][a-z0-9-]{0,32}', why],
    ['shorter type', 'type: matching(/^[a-z][a-z0-9-]{0,31}', 'type: matching(/^[a-z][a-z0-9-]{0,30}', why],
    ['longer type', 'type: matching(/^[a-z][a-z0-9-]{0,31}', 'type: matching(/^[a-z][a-z0-9-]{0,32}', why],
    ['shorter workspace', '[A-Za-z0-9_-]{1,64}', '[A-Za-z0-9_-]{1,63}', why],
    ['shorter id', '[^\\p{Cc}\\p{Cs}]{1,255}', '[^\\p{Cc}\\p{Cs}]{1,254}', why],
    ['empty id', '[^\\p{Cc}\\p{Cs}]{1,255}', '[^\\p{Cc}\\p{Cs}]{0,255}', why],
    ['fewer leaves', 'leaves: integerUpTo(2 ** 32 - 1)', 'leaves: integerUpTo(2 ** 32 - 2)', why],
    ['smaller uint64', '&& BigInt(value) < 2n ** 64n', '&& BigInt(value) < 2n ** 64n - 1n', why],
    [
      'smaller integers',
      'integerUpTo(Number.MAX_SAFE_INTEGER)',
      'integerUpTo(Number.MAX_SAFE_INTEGER - 1)',
      why,
    ],
    [
      'larger integers',
      'integerUpTo(Number.MAX_SAFE_INTEGER)',
      'integerUpTo(Number.MAX_SAFE_INTEGER + 1)',
      why,
    ],
  ]),
  ...mutationsOf('src/proof/evm/inclusion.ts', vectors, [
    ['15 nodes', 'export const maxNodes = 16;', 'export const maxNodes = 15;', why],
    ['smaller index', 'export const maxIndex = 2 ** 32 - 1;', 'export const maxIndex = 2 ** 32 - 2;', why],
  ]),
];

const parts = mutationsOf('src/proof/json-shape.ts', vectors, [
  ['something for a list', "return [{ path, message: 'is not a list' }];", 'return [];', why],
  [
    'lists too short',
    'if (value.length < least || value.length > most) {',
    'if (value.length > most) {',
    why,
  ],
  ['large integers', ' && (value as number) <= max\n', '\n', why],
  [
    'numbers for texts',
    "typeof value === 'string' && pattern.test(value)",
    'pattern.test(`$' + '{value}`)',
    why,
  ],
]);

const anchors = [
  ...mutationsOf('src/proof/opentimestamps/anchor.ts', vectors, [
    ['form of a file', 'proof: checkFile', 'proof: () => []', why],
    ['form of a height', 'height: integerUpTo(maxNumber)', 'height: () => []', why],
    ['form of a Bitcoin header', 'header: hexOf(headerBytes)', 'header: () => []', why],
  ]),
  ...mutationsOf('src/proof/rfc3161/anchor.ts', vectors, [
    ['form of a token', 'token: base64UpTo(timestampLimits.tokenBytes)', 'token: () => []', why],
    [
      'form of a certificate',
      'certificates: eachOf(base64UpTo(timestampLimits.certificateBytes)',
      'certificates: eachOf(() => []',
      why,
    ],
    ['form of a list', 'crls: eachOf(base64UpTo(timestampLimits.crlBytes)', 'crls: eachOf(() => []', why],
    ['smaller token', 'tokenBytes: 65_536,', 'tokenBytes: 65_535,', why],
    ['larger token', 'tokenBytes: 65_536,', 'tokenBytes: 65_537,', why],
    ['smaller certificate', 'certificateBytes: 16_384,', 'certificateBytes: 16_383,', why],
    ['larger certificate', 'certificateBytes: 16_384,', 'certificateBytes: 16_385,', why],
    ['smaller list', 'crlBytes: 1_048_576,', 'crlBytes: 1_048_575,', why],
    ['larger list', 'crlBytes: 1_048_576,', 'crlBytes: 1_048_577,', why],
    ['fewer certificates', '  certificates: 16,\n', '  certificates: 15,\n', why],
    ['fewer lists', '  crls: 4,\n', '  crls: 3,\n', why],
  ]),
];

const steps = mutationsOf(
  'src/proof/verify/verify.ts',
  vectors,
  [
    "['content', 'digest']",
    "['claims', 'claims']",
    "['merkle', 'path']",
    "['seal', 'seal']",
    "['anchors', 'time']",
  ].map((row) => [`step of ${row}`, `  ${row},\n`, '', 'Two verifiers would name two steps.']),
);

export const shapeMutations = [...proofMembers, ...bounds, ...parts, ...anchors, ...steps];

/** The last thing that is called `check` in the text lets everything pass. */
function withoutCheck(text: string, check: string): string {
  const at = text.lastIndexOf(check);
  return `${text.slice(0, at)}() => []${text.slice(at + check.length)}`;
}
