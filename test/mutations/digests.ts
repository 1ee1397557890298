/** What is hashed and signed, and which JSON is refused, each rule left out: a vector has to turn red. */
import { mutationsOf } from './mutation.ts';

const vectors = ['src/proof/verify/vectors.test.ts'];
const differ = 'Two verifiers would differ.';
const ambiguous = 'Two readers could read two values, and both would verify.';

const canonicalRules = mutationsOf('src/proof/canonical.ts', vectors, [
  [
    'half a character',
    'return value.isWellFormed() ? JSON.stringify(value) : null;',
    'return JSON.stringify(value);',
    ambiguous,
  ],
  ['half a character in a name', 'member === null || !name.isWellFormed()', 'member === null', ambiguous],
  [
    'integers that were rounded',
    'Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))',
    'Number.isFinite(value)',
    ambiguous,
  ],
  ['levels of a record', 'if (depth >= maxJsonDepth) return null;', '', differ],
  [
    'one level of a record less',
    'if (depth >= maxJsonDepth) return null;',
    'if (depth >= maxJsonDepth - 1) return null;',
    differ,
  ],
  [
    'order of names',
    'Object.keys(value).sort()',
    'Object.keys(value).sort((a, b) => (a.normalize() < b.normalize() ? 1 : -1))',
    'A record would have many digests.',
  ],
]);

const textRules = mutationsOf('src/runtime/json-text.ts', vectors, [
  ['name that occurs twice', 'if (names !== countNames(value)) throw', 'if (names < 0) throw', ambiguous],
  [
    'levels of a document',
    'if (depth > maxJsonDepth + wrapping) {',
    'if (depth > maxJsonDepth + wrapping + 1) {',
    differ,
  ],
  [
    'one level of a document less',
    'if (depth > maxJsonDepth + wrapping) {',
    'if (depth > maxJsonDepth + wrapping - 1) {',
    differ,
  ],
  ['inexact numbers', 'if (isSameNumber(written, value)) return;', 'return;', ambiguous],
  ['17 digits', 'if (meant.count > 17) return false;', 'if (meant.count > 16) return false;', differ],
  ['18 digits', 'if (meant.count > 17) return false;', 'if (meant.count > 18) return false;', ambiguous],
]);

const utf8Rules = mutationsOf('src/proof/utf8.ts', vectors, [
  [
    'bytes that are no text',
    "\nconst decoder = new TextDecoder('utf-8', { fatal: true,",
    "\nconst decoder = new TextDecoder('utf-8', { fatal: false,",
    ambiguous,
  ],
  [
    'a byte order mark',
    "\nconst decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true",
    "\nconst decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false",
    ambiguous,
  ],
]);

const contentRules = mutationsOf('src/proof/content.ts', vectors, [
  [
    'salt of a record',
    'return recordDigest(fromHex(salt), parse',
    'return recordDigest(fromHex(salt).fill(0), parse',
    'A record could be found by guessing.',
  ],
  [
    'salt of an HMAC',
    'hmac.create(sha256, fromHex(salt))',
    'hmac.create(sha256, fromHex(salt).fill(0))',
    'Content could be found by guessing.',
  ],
]);

const sealRules = mutationsOf('src/proof/seal.ts', vectors, [
  [
    'v of a signature',
    'if (v !== 27 && v !== 28) return',
    'if (v === undefined) return',
    'A seal would have more than one signature.',
  ],
  [
    'upper half',
    '> halfOrder) return',
    '> 2n * halfOrder) return',
    'A seal would have more than one signature.',
  ],
  [
    'signature in the id',
    'words.set(keccak(fromHex(signature)), 6 * 32);',
    '',
    'Whoever gets a key later could make another seal with the same id.',
  ],
  ['vault in the id', 'writeHex(fields.vault, words, 2 * 32 + 12);', '', differ],
  [
    'id hashed once',
    'return keccak(keccak(words));',
    'return keccak(words);',
    'A node of the tree could be presented as a seal.',
  ],
  ['vault that is signed', 'writeHex(fields.vault, struct, 32 + 12);', '', differ],
  [
    'seal before that is signed',
    'writeHex(fields.previousSeal, struct, 5 * 32);',
    '',
    'A vault could take back which seal came before.',
  ],
  [
    'seal before in the id',
    'writeHex(fields.previousSeal, words, 5 * 32);',
    '',
    'A vault could take back which seal came before.',
  ],
]);

const curveRules = mutationsOf('src/proof/secp256k1.ts', vectors, [
  ['parity of a signature', '(root & 1n) === isOdd ? root', '(root & 1n) !== isOdd ? root', differ],
]);

const headRules = mutationsOf('src/proof/head.ts', vectors, [
  [
    'head hashed once',
    'return keccak(keccak(bytes));',
    'return keccak(bytes);',
    'A node of the tree could be presented as a head.',
  ],
  ['domain of a head', "hashOf('holdfast/head@1', keccak)", "hashOf('holdfast/evidence@1', keccak)", differ],
  [
    'domain of evidence',
    "hashOf('holdfast/evidence@1', keccak), item",
    "hashOf('holdfast/head@1', keccak), item",
    differ,
  ],
  [
    'log of a head',
    'fromHex(evidenceRoot), fromHex(logHead)]',
    'fromHex(evidenceRoot), fromHex(evidenceRoot)]',
    differ,
  ],
]);

const leafRules = mutationsOf('src/proof/leaf.ts', vectors, [
  [
    'leaf that is hashed once',
    'return keccak(keccak(encodeLeaf(values)));',
    'return keccak(encodeLeaf(values));',
    'A node of the tree could be presented as a leaf.',
  ],
  [
    'workspace in the subject',
    '`$' + '{workspaceId}/$' + '{id}`',
    '`/$' + '{id}`',
    'A proof could be passed off as that of another workspace.',
  ],
  [
    'canonicalization in the kind',
    '`$' + '{kind}/$' + '{canonicalization}`',
    '`$' + '{kind}/`',
    'One digest could be read as that of two contents.',
  ],
]);

const treeRules = mutationsOf('src/proof/merkle.ts', vectors, [
  [
    'order of a pair',
    'compare(nodes, at, at + hashBytes) <= 0 ? 0 : hashBytes;',
    'compare(nodes, at, at + hashBytes) <= 0 ? hashBytes : 0;',
    'Paths would lead to another root than the one that is anchored.',
  ],
]);

export const digestMutations = [
  ...utf8Rules,
  ...canonicalRules,
  ...textRules,
  ...contentRules,
  ...sealRules,
  ...curveRules,
  ...headRules,
  ...leafRules,
  ...treeRules,
];
