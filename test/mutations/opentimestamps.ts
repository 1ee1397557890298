/** Rules about OpenTimestamps files and the headers beside them, each left out: a vector has to turn red. */
import { mutationsOf } from './mutation.ts';

const vectors = ['src/proof/verify/vectors.test.ts'];

const readRules = mutationsOf('src/proof/opentimestamps/read.ts', vectors, [
  [
    'beginning of a file',
    'if (toHex(magic) !== toHex(fileMagic)) throw',
    'if (magic.length === 0) throw',
    'Other files would be read as timestamps.',
  ],
  [
    'version of a file',
    'if (version !== formatVersion) throw',
    'if (version < formatVersion) throw',
    'Two verifiers would differ.',
  ],
  [
    'large file',
    'if (bytes.length > maxFileBytes) throw',
    'if (bytes.length > maxFileBytes + 2) throw',
    'Two verifiers would differ.',
  ],
  [
    'large number',
    'if (scale > maxScale || value > maxNumber)',
    'if (scale > maxScale)',
    'Two verifiers would differ.',
  ],
  [
    'zeros of a number',
    'if (next === 0 && scale > 1) throw',
    'if (next < 0 && scale > 1) throw',
    'One file could be written in many ways.',
  ],
  ['sized bytes', 'if (length > max) throw', 'if (length > 4 * max) throw', 'Two verifiers would differ.'],
  [
    'bytes too many',
    'if (at !== bytes.length) throw',
    'if (at > bytes.length) throw',
    'A file could carry anything behind it.',
  ],
  [
    'repeated entry',
    'if (seen.has(entry)) throw',
    'if (seen.size > 99_999) throw',
    'One file could be written in many ways.',
  ],
  [
    'repeated tag',
    'const entry = `$' + '{tag} $' + '{source.since(start)}`;',
    'const entry = `$' + '{tag}`;',
    'Two arguments of one operation would be refused.',
  ],
  [
    'long way',
    'if (depth === maxPathOperations) {',
    'if (depth === maxPathOperations + 1) {',
    'Two verifiers would differ.',
  ],
  [
    'short way',
    'if (depth === maxPathOperations) {',
    'if (depth === maxPathOperations - 1) {',
    'Two verifiers would differ.',
  ],
  [
    'unknown operation',
    'if (result === undefined) throw',
    'if (result === -1) throw',
    'Two verifiers would differ.',
  ],
  [
    'long message',
    'if (result > maxMessageBytes) {',
    'if (result > maxMessageBytes + 2) {',
    'Two verifiers would differ.',
  ],
  [
    'many messages',
    'if (resultsBytes > maxResultsBytes) {',
    'if (resultsBytes > maxResultsBytes + 1) {',
    'Two verifiers would differ.',
  ],
  [
    'fewer messages',
    'if (resultsBytes > maxResultsBytes) {',
    'if (resultsBytes >= maxResultsBytes) {',
    'Two verifiers would differ.',
  ],
  [
    'nothing added',
    'if (argument.length === 0) throw',
    'if (argument.length > 9_999) throw',
    'One file could be written in many ways.',
  ],
  ['end of a payload', '  content.requireEnd();\n', '', 'An attestation could carry anything behind it.'],
  [
    'address of a calendar',
    'if (!uriPattern.test(uri))',
    'if (uri.length > 1_000)',
    'A file could make a person, or a program, call any address.',
  ],
  [
    'height of Litecoin',
    "return { kind: 'litecoin', height: content.number() };",
    'return null;',
    'Two verifiers would differ.',
  ],
  [
    'Litecoin as Bitcoin',
    "return { kind: 'litecoin', height: content.number() };",
    "return { kind: 'bitcoin', height: content.number() };",
    'A block of another chain would have to fit.',
  ],
]);

const boundRules = mutationsOf('src/proof/opentimestamps/encoding.ts', vectors, [
  [
    'line break in an address',
    'export const uriPattern = /^[A-Za-z0-9\\-._/:]*$/;',
    'export const uriPattern = /^[A-Za-z0-9\\-._/:]*$/m;',
    'An address could hide what it says.',
  ],
  [
    'payload of an attestation',
    'export const maxPayloadBytes = 8192;',
    'export const maxPayloadBytes = 8193;',
    'Two verifiers would differ.',
  ],
  [
    'smaller payload',
    'export const maxPayloadBytes = 8192;',
    'export const maxPayloadBytes = 8191;',
    'Two verifiers would differ.',
  ],
  [
    'long address',
    'export const maxUriBytes = 1000;',
    'export const maxUriBytes = 1001;',
    'Two verifiers would differ.',
  ],
  [
    'short address',
    'export const maxUriBytes = 1000;',
    'export const maxUriBytes = 999;',
    'Two verifiers would differ.',
  ],
  [
    'smaller file',
    'export const maxFileBytes = 65_536;',
    'export const maxFileBytes = 65_535;',
    'Two verifiers would differ.',
  ],
]);

const operationRules = mutationsOf('src/proof/opentimestamps/operations.ts', vectors, [
  [
    'shorter message',
    'export const maxMessageBytes = 4096;',
    'export const maxMessageBytes = 4095;',
    'Two verifiers would differ.',
  ],
  [
    'length of hex digits',
    'tag === operationTags.hexlify ? 2 * length',
    'tag === operationTags.hexlify ? length',
    'A message could grow beyond all bounds.',
  ],
  [
    'length of an append',
    'return length + argument.length;',
    'return length;',
    'A message could grow beyond all bounds.',
  ],
  [
    'order of an append',
    'return joined(message, argument);',
    'return joined(argument, message);',
    'No file would lead to its block.',
  ],
  [
    'order of a prepend',
    'return joined(argument, message);',
    'return joined(message, argument);',
    'No file would lead to its block.',
  ],
  [
    'RIPEMD-160',
    'return ripemd160(message);',
    'return sha256(message).slice(0, 20);',
    'Some files would not lead to their block.',
  ],
  [
    'Keccak-256',
    'return plainKeccak(message);',
    "return sha256(message, 'bytes');",
    'Some files would not lead to their block.',
  ],
  [
    'reversed',
    'return message.toReversed();',
    'return message;',
    'Some files would not lead to their block.',
  ],
  [
    'hex digits',
    'toHex(message).slice(2)',
    'toHex(message).slice(2).toUpperCase()',
    'Some files would not lead to their block.',
  ],
  [
    'SHA-1 of a file',
    'return sha1(message);',
    'return sha1(message).toReversed();',
    'Some files would not lead to their block.',
  ],
]);

const headerRules = mutationsOf('src/proof/opentimestamps/bitcoin-header.ts', vectors, [
  [
    'negative target',
    'return (bits & 0x800000) === 0 && target',
    'return target',
    'A header could demand no work at all.',
  ],
  [
    'target of 257 bits',
    '&& target < 2n ** 256n ? target',
    '&& target >= 0n ? target',
    'A header could demand no work at all.',
  ],
  [
    'proof of work',
    'hasWork: BigInt(hash) <= target,',
    'hasWork: 0n <= target,',
    'Headers without work would be looked at.',
  ],
  [
    'order of the time',
    'fields.getUint32(68, true)',
    'fields.getUint32(68, false)',
    'A wrong time would be told.',
  ],
  [
    'order of the hash',
    'sha256(sha256(bytes)).reverse()',
    'sha256(sha256(bytes))',
    'No trusted hash would be found.',
  ],
]);

const anchorRules = mutationsOf('src/proof/opentimestamps/anchor.ts', vectors, [
  [
    'base64 of a file',
    '&& fromBase64(value)?.length',
    '&& value.length',
    'Two verifiers would name two steps.',
  ],
  [
    'long base64',
    'value.length <= 4 * Math.ceil(maxFileBytes / 3) &&',
    'value.length > 0 &&',
    'Two verifiers would name two steps.',
  ],
  ['17 headers', 'const maxHeaders = 16;', 'const maxHeaders = 17;', 'Two verifiers would differ.'],
  ['16 headers', 'const maxHeaders = 16;', 'const maxHeaders = 15;', 'Two verifiers would differ.'],
  [
    'height twice',
    'headers.findIndex((header) => header.height === height) === place',
    'place >= 0',
    'Two headers of one height could contradict each other.',
  ],
]);

const judgeRules = mutationsOf('src/proof/opentimestamps/judge.ts', vectors, [
  [
    'malformed file',
    "if (typeof file === 'string') return fail(",
    "if (typeof file === 'string') return untrusted(",
    'A malformed file would do no harm.',
  ],
  [
    'hash of a file',
    'if (file.hashTag !== operationTags.sha256) return',
    'if (file.hashTag < 0) return',
    'A file about another digest would do.',
  ],
  [
    'digest of a file',
    'if (toHex(file.digest) !== toHex(imprint)) {',
    'if (file.digest.length === 0) {',
    'A file about something else would do.',
  ],
  [
    'block that contradicts',
    'if (contradiction !== null) return fail(contradiction);',
    'if (contradiction !== null) return untrusted(contradiction);',
    'A wrong header would do no harm.',
  ],
  [
    'height of a trusted block',
    'blocksAt(trust.blocks, height).some((known) => known.hash === hash)',
    'trust.blocks.some((known) => known.hash === hash)',
    'Two verifiers would differ.',
  ],
  [
    'later Bitcoin block',
    '.filter(({ time }) => time <= at)',
    '.filter(({ time }) => time > 0)',
    'What was committed later would count at an earlier time.',
  ],
  [
    'earliest Bitcoin block',
    '.toSorted((one, other) => one.time - other.time || one.height - other.height)',
    '.toSorted((one, other) => one.height - other.height)',
    'Two verifiers would tell two times.',
  ],
  [
    'header of an unnamed block',
    'if (!attested.includes(height)) {',
    'if (attested.length < 0) {',
    'A header could be shown that proves nothing.',
  ],
  [
    'work of a header',
    'if (!hasWork) return',
    'if (hasWork === undefined) return',
    'A header without work would be looked at.',
  ],
  [
    'Merkle root of a header',
    'if (toHex(merkleRoot) !== root) {',
    "if (root === '0x' && merkleRoot.length === 0) {",
    'A file that leads nowhere would pass.',
  ],
  [
    'every way to a header',
    '(height) => roots.has(height))) {',
    '(height) => roots.has(height) && roots.delete(height))) {',
    'A file could contradict itself.',
  ],
  [
    'trusted hash of a height',
    'if (known.length > 0 && known.every((block) => block.hash !== hash)) {',
    'if (known.length > 99) {',
    'A header that is not the trusted one would do no harm.',
  ],
  [
    'one of the trusted hashes',
    'known.every((block) => block.hash !== hash)',
    'known.some((block) => block.hash !== hash)',
    'Two verifiers would differ.',
  ],
]);

export const openTimestampsMutations = [
  ...readRules,
  ...boundRules,
  ...operationRules,
  ...headerRules,
  ...anchorRules,
  ...judgeRules,
];
