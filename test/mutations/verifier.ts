/** Rules of the verifier itself, each left out: a vector has to turn red. */
import { mutationsOf } from './mutation.ts';

const vectors = ['src/proof/verify/vectors.test.ts'];

const documentRules = mutationsOf('src/proof/verify/verify.ts', vectors, [
  [
    'digest of the leaf',
    'if (content.digest !== leaf.values[2])',
    'if (content.digest.length !== leaf.values[2].length)',
    'A document could show the digest of other content than the one in its leaf.',
  ],
  [
    'digest of the content',
    'if (digest === content.digest) return',
    'if (digest.length === content.digest.length) return',
    'Any content would pass.',
  ],
  [
    'two salts',
    'options.salt !== undefined && options.salt !== content.salt',
    'options.salt !== undefined && options.salt.length !== content.salt.length',
    'The owner of an HMAC would not learn that the document has another salt.',
  ],
  [
    'salt that nobody has',
    "return skip('The document does not contain the salt",
    "return fail('The document does not contain the salt",
    'A good proof would fail for its owner.',
  ],
  [
    'content that is no JSON',
    'return fail(`The content is not the JSON',
    'return skip(`The content is not the JSON',
    'Content that is not that of the proof would do no harm.',
  ],
  [
    'claims that are no JSON',
    '    return fail(error.message);',
    '    return skip(error.message);',
    'Claims that nobody can hash would do no harm.',
  ],
  [
    'erased claims',
    "if (claims === null) return skip('The claims were erased.');",
    "if (claims === null) return pass('The claims were erased.');",
    'What cannot be compared would pass.',
  ],
  [
    'claims not compared',
    'if (claimsHash(claims) === leaf.values[7]) return',
    'if (claimsHash(claims).length === leaf.values[7].length) return',
    'Whoever holds a proof could write another name, size or expiry into it.',
  ],
  [
    'domain of the leaf',
    'if (values[0] !== leafDomainHash) return',
    'if (values[0] === undefined) return',
    'Something that was hashed for another purpose could pass for a leaf.',
  ],
  [
    'kind of the leaf',
    'if (values[1] !== kindHash({ kind, canonicalization })) {',
    'if (values[1] === undefined) {',
    'One digest could be read as that of two contents.',
  ],
  [
    'subject of the leaf',
    'if (values[3] !== subjectHash(subject)) {',
    'if (values[3] === undefined) {',
    'A proof could be passed off as that of another thing.',
  ],
  [
    'path without a leaf',
    "leaf.status === 'pass' ? checkPath(proof) : skip('There is no leaf to start from.')",
    'checkPath(proof)',
    'A clock would vouch for a leaf that is not that of the document.',
  ],
  [
    'room for the seal',
    'if (depth >= merkle.proof.length) {',
    'if (depth > merkle.proof.length) {',
    'A subtree root that was anchored without any seal would be on a good path.',
  ],
  [
    'leaves for the depth',
    '2 ** depth < 2 * leaves &&',
    'depth < 65 &&',
    'A vault could state fewer leaves than its subtree has.',
  ],
  [
    'depth for the leaves',
    '&& leaves < 2 ** (depth + 1)',
    '&& leaves < 2 ** 32',
    'A vault could state more leaves than its subtree has.',
  ],
  [
    'subtree of the seal',
    'if (toHex(lower) !== subtreeRoot)',
    'if (subtreeRoot.length === 0)',
    'Anybody could put a leaf beside a real seal of a vault, and have it anchored.',
  ],
  [
    'root of the path',
    'if (toHex(root) !== merkle.root) return',
    'if (merkle.root.length === 0) return',
    'The leaf would not have to be under the root that is anchored.',
  ],
  [
    'vault of the seal',
    'if (seal.vault !== leaf.values[6])',
    'if (seal.vault.length !== leaf.values[6].length)',
    'A stranger could seal the leaf of a vault as his own.',
  ],
  [
    'form of the signature',
    'if (fault !== null) return fail(`The signature is refused',
    "if (fault === '') return fail(`The signature is refused",
    'A seal would have more than one signature.',
  ],
  [
    'any signer will do',
    'if (signer !== seal.vault) return fail(',
    'if (signer === null) return fail(',
    'Anybody could seal in the name of any vault.',
  ],
  [
    'seal in the tree',
    'if (merkle.proof[seal.depth] !== toHex(sealId(seal, seal.signature))) {',
    'if (merkle.proof[seal.depth] === undefined) {',
    'Whoever gets a key later could seal what was anchored before.',
  ],
  [
    'spelling of the document',
    'return parseProof(parseJsonText(document));',
    'return parseProof(JSON.parse(document));',
    'Two readers could read two documents.',
  ],
  [
    'step of the depth',
    "if (path === 'seal.depth') return 'path';",
    "if (path === '') return 'leaf';",
    'Two verifiers would name two steps.',
  ],
  ['step of the renewals', "['renewals', 'time'],", '', 'Two verifiers would name two steps.'],
]);

const shapeRules = mutationsOf('src/proof/verify/proof.ts', vectors, [
  [
    'zero as a number',
    '/^[1-9][0-9]{0,19}$/u.test(value)',
    '/^(0|[1-9][0-9]{0,19})$/u.test(value)',
    'Versions and seals count from 1.',
  ],
  [
    'leading zeros',
    '/^[1-9][0-9]{0,19}$/u.test(value)',
    '/^[0-9]*[1-9][0-9]*$/u.test(value)',
    'A number would have many spellings.',
  ],
  [
    'beyond uint64',
    '&& BigInt(value) < 2n ** 64n',
    '&& BigInt(value) < 2n ** 66n',
    'A version would be hashed as another one, or throw.',
  ],
  [
    'half a byte',
    'value.length % 2 === 0 && /^0x[0-9a-f]+$/u',
    '/^0x[0-9a-f]+$/u',
    'Bytes would be read in two ways.',
  ],
  ['no bytes at all', '/^0x[0-9a-f]+$/u', '/^0x[0-9a-f]*$/u', 'An empty header would be looked at.'],
  ['upper case bytes', '/^0x[0-9a-f]+$/u', '/^0x[0-9a-fA-F]+$/u', 'Bytes would have many spellings.'],
  ['17 anchors', 'const maxAnchors = 16;', 'const maxAnchors = 17;', 'Two verifiers would differ.'],
  ['17 renewals', 'const maxRenewals = 16;', 'const maxRenewals = 17;', 'Two verifiers would differ.'],
  [
    '66 steps',
    'export const maxPathLength = 65;',
    'export const maxPathLength = 66;',
    'Two verifiers would differ.',
  ],
  [
    'salt of a file',
    "canonicalization === 'raw' && salt !== null",
    "canonicalization === 'raw' && salt === ''",
    'A salt would be believed that nothing is hashed with.',
  ],
  [
    'no anchors',
    'anchors: eachOf(checkAnchor, { min: 1, max: maxAnchors }),\n  renewals',
    'anchors: eachOf(checkAnchor, { max: maxAnchors }),\n  renewals',
    'Two verifiers would differ.',
  ],
  [
    'no anchors in a renewal',
    'anchors: eachOf(checkAnchor, { min: 1, max: maxAnchors }),\n});',
    'anchors: eachOf(checkAnchor, { max: maxAnchors }),\n});',
    'Two verifiers would differ.',
  ],
  ['no nodes', '{ min: 1, max: maxNodes }', '{ max: maxNodes }', 'Two verifiers would differ.'],
  [
    'too many nodes',
    '{ min: 1, max: maxNodes }',
    '{ min: 1, max: 99 }',
    'A small document could keep a verifier busy.',
  ],
  ['large index', 'index: integerUpTo(maxIndex)', 'index: safeInteger', 'Two verifiers would differ.'],
  [
    'capital type',
    '{ type: matching(/^[a-z][a-z0-9-]{0,31}$/u',
    '{ type: matching(/^[a-z][a-z0-9-]{0,31}$/iu',
    'Evm would be an unknown anchor that nobody looks at.',
  ],
  [
    'form of known anchors',
    'return (known ?? checkOtherAnchor)(value, path);',
    'return checkOtherAnchor(value, path);',
    'A known anchor could have any members.',
  ],
  [
    'kind of any letters',
    'kind: matching(/^[a-z][a-z0-9-]{0,31}$/u',
    'kind: matching(/^[^\\n]{1,64}$/u',
    'A kind with a slash could be split in two ways.',
  ],
  [
    'workspace of any letters',
    'workspaceId: matching(/^[A-Za-z0-9_-]{1,64}$/u',
    'workspaceId: matching(/^[^\\n]{1,64}$/u',
    'A subject could be split in two ways.',
  ],
  ['long workspace', '/^[A-Za-z0-9_-]{1,64}$/u', '/^[A-Za-z0-9_-]{1,65}$/u', 'Two verifiers would differ.'],
  [
    'id with control characters',
    '/^[^\\p{Cc}\\p{Cs}]{1,255}$/u',
    '/^[^\\p{Cs}]{1,255}$/u',
    'An id could hide what it says.',
  ],
  [
    'id with half a character',
    '/^[^\\p{Cc}\\p{Cs}]{1,255}$/u',
    '/^[^\\p{Cc}]{1,255}$/u',
    'Two ids could have one hash.',
  ],
  [
    'long id',
    '/^[^\\p{Cc}\\p{Cs}]{1,255}$/u',
    '/^[^\\p{Cc}\\p{Cs}]{1,256}$/u',
    'Two verifiers would differ.',
  ],
  [
    'id in units',
    '/^[^\\p{Cc}\\p{Cs}]{1,255}$/u',
    '/^(?![^]{256})[^\\p{Cc}]{1,255}$/',
    'Two verifiers would count characters in two ways.',
  ],
  [
    'depth of 65',
    'depth: integerUpTo(maxPathLength - 1)',
    'depth: integerUpTo(maxPathLength)',
    'Two verifiers would differ.',
  ],
  [
    'leaves beyond uint32',
    'leaves: integerUpTo(2 ** 32 - 1)',
    'leaves: safeInteger',
    'A count would be signed as another one, or throw.',
  ],
  [
    'claims without salt',
    'claims: nullOr(objectOf({ salt: hash }, { open: true }))',
    'claims: nullOr(objectOf({}, { open: true }))',
    'A leaf could be found by guessing.',
  ],
  [
    'other types',
    'types: exactly(leafTypes)',
    'types: eachOf(() => [], { max: 9 })',
    'A leaf could be shown with other types than those that are hashed.',
  ],
  [
    'unknown members',
    'const unknown = names.filter((name) => !Object.hasOwn(members, name));',
    'const unknown = names.filter((name) => name.length === 0);',
    'Readers would believe a member that nobody checks.',
  ],
  [
    'unknown member with a dot',
    `path: \`[\${JSON.stringify(name)}]\`,`,
    'path: name,',
    'Two verifiers would name two steps.',
  ],
]);

const shared = mutationsOf('src/proof/json-shape.ts', vectors, [
  [
    'missing members',
    "if (!Object.hasOwn(value, name)) return [{ path: place, message: 'is missing' }];",
    'if (!Object.hasOwn(value, name)) return [];',
    'A document without anchors or renewals would be looked at.',
  ],
  [
    'unknown members of parts',
    'const unknown = Object.keys(value).filter((name) => !Object.hasOwn(members, name));',
    'const unknown = Object.keys(value).filter((name) => name.length === 0);',
    'Readers would believe a member that nobody checks.',
  ],
  [
    'negative integers',
    '(value as number) >= 0 &&',
    '(value as number) >= -9 &&',
    'Two verifiers would differ.',
  ],
  ['fractions', 'Number.isInteger(value) &&', "typeof value === 'number' &&", 'Two verifiers would differ.'],
  ['upper case hex', '`^0x[0-9a-f]{', '`^0x[0-9a-fA-F]{', 'A value would have many spellings.'],
  [
    'lists of any length',
    'if (value.length < least || value.length > most) {',
    'if (value.length < least) {',
    'Two verifiers would differ.',
  ],
  [
    'lists as objects',
    "typeof value !== 'object' || value === null || Array.isArray(value)",
    "typeof value !== 'object' || value === null",
    'Two verifiers would name two steps.',
  ],
]);

const verdictRules = mutationsOf('src/proof/verify/steps.ts', vectors, [
  [
    'a failed step',
    "if (steps.some(({ status }) => status === 'fail')) return 'fail';",
    "if (steps.every(({ status }) => status === 'fail')) return 'fail';",
    'What contradicts would count as unchecked.',
  ],
  [
    'a skipped step',
    "needed.every(({ status }) => status === 'pass')",
    "needed.some(({ status }) => status === 'pass')",
    'A proof without a clock would pass.',
  ],
  [
    'time not needed',
    "'path', 'seal', 'time'] as const;",
    "'path', 'seal'] as const;",
    'A proof without a clock would pass.',
  ],
]);

const trustRules = mutationsOf('src/proof/verify/trust.ts', vectors, [
  [
    'named chains',
    'const named = chains.filter((chain) => chain.chainId === chainId);',
    'const named = chains.filter((chain) => chain.chainId < 0);',
    'Nobody could trust a chain of their own.',
  ],
  [
    'any named chain',
    'const named = chains.filter((chain) => chain.chainId === chainId);',
    'const named = [...chains];',
    'Naming one chain would trust every chain.',
  ],
  [
    'second genesis',
    'const genesisHashes = named.map(({ genesisHash }) => genesisHash);',
    'const genesisHashes = [first.genesisHash];',
    'Two verifiers would differ.',
  ],
  [
    'test networks',
    'isTrusted: !test,',
    'isTrusted: true,',
    'The clock of a network that may be reset would be evidence.',
  ],
  [
    'own development node',
    '      isShipped: false,\n      name: `chain',
    '      isShipped: true,\n      name: `chain',
    'Nobody could verify with a chain of their own on such a node.',
  ],
]);

export const verifierMutations = [...documentRules, ...shapeRules, ...shared, ...verdictRules, ...trustRules];
