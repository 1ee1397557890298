/** Rules about headers, receipt tries and receipts, each left out: a vector has to turn red. */
import { mutationsOf } from './mutation.ts';

const vectors = ['src/proof/verify/vectors.test.ts'];

const rlpRules = mutationsOf('src/proof/evm/rlp.ts', vectors, [
  [
    'item beyond its list',
    "if (next > end) throw wrong('it ends too early');",
    "if (next > bytes.length) throw wrong('it ends too early');",
    'One header could be read in two ways.',
  ],
  [
    'long form of a short length',
    '(length < 56 || bytes[at + 1] === 0)',
    'bytes[at + 1] === 0',
    'One header could be written in two ways.',
  ],
  [
    'length with a zero',
    '(length < 56 || bytes[at + 1] === 0)',
    'length < 56',
    'One header could be written in two ways.',
  ],
  [
    'byte with a prefix',
    'if (length === 1 && (bytes[start] ?? 0) < 0x80) throw',
    'if (length === 1 && bytes[start] === undefined) throw',
    'One header could be written in two ways.',
  ],
  ['levels of lists', 'const mostLevels = 4;', 'const mostLevels = 5;', 'Two verifiers would differ.'],
  [
    'fewer levels of lists',
    'const mostLevels = 4;',
    'const mostLevels = 3;',
    'A receipt with topics would be refused.',
  ],
  [
    'bytes after the end',
    "if (next !== bytes.length) throw wrong('it has bytes after its end');",
    '',
    'A header could carry anything behind it.',
  ],
  [
    'string for a list',
    `if (!Array.isArray(item)) throw new EvmFault(\`\${what} is not a list\`);`,
    'if (!Array.isArray(item)) return [];',
    'A string would be an empty list.',
  ],
  [
    'length of bytes',
    'if (length !== undefined && item.length !== length) throw',
    'if (length !== undefined && item.length === -1) throw',
    'A bloom filter, an address or a topic could have any length.',
  ],
  [
    'list for bytes',
    'if (!(item instanceof Uint8Array)) throw',
    'if (Array.isArray(item)) return new Uint8Array(length ?? 0);\n  if (!item) throw',
    'A list would be empty bytes.',
  ],
  [
    'integers beyond 2^53',
    'if (bytes[0] === 0 || !Number.isSafeInteger(value)) {',
    'if (bytes[0] === 0) {',
    'Two numbers would be read as one.',
  ],
  [
    'leading zeros of integers',
    'if (bytes[0] === 0 || !Number.isSafeInteger(value)) {',
    'if (!Number.isSafeInteger(value)) {',
    'One number could be written in two ways.',
  ],
]);

const trieRules = mutationsOf('src/proof/evm/trie.ts', vectors, [
  [
    'hash of a node',
    'if (toHex(plainKeccak(node)) !== wanted) {',
    "if (wanted === '0x') {",
    'A made-up receipt could be put under any header.',
  ],
  [
    'items of a node',
    'if (items.length !== 2) throw',
    'if (items.length < 2) throw',
    'Two verifiers would differ.',
  ],
  [
    'path of a node',
    '!key.startsWith(path, at) || (isLeaf',
    '(isLeaf',
    'The receipt of another transaction would do.',
  ],
  [
    'rest of the key',
    '|| (isLeaf && end < key.length)) {',
    ') {',
    'The receipt of another transaction would do.',
  ],
  [
    'nodes after the leaf',
    'if (place < nodes.length - 1) throw',
    'if (place > nodes.length) throw',
    'A document could carry anything behind its leaf.',
  ],
  [
    'padding of a path',
    '/^(?:(?:3|20)(.*)|(?:1|00)(.+))$/',
    '/^(?:(?:3|2.)(.*)|(?:1|00)(.+))$/',
    'One path could be written in many ways.',
  ],
  [
    'extension of nothing',
    '/^(?:(?:3|20)(.*)|(?:1|00)(.+))$/',
    '/^(?:(?:3|20)(.*)|(?:1|00)(.*))$/',
    'A path could be made longer than it is.',
  ],
  [
    'key of a large index',
    'return index > 0 && index < 0x80 ? bytes',
    'return index > 0 && index < 0x81 ? bytes',
    'Another receipt would be looked for.',
  ],
  [
    'key of index zero',
    'index > 0 && index < 0x80 ? bytes',
    'index < 0x80 ? bytes',
    'Another receipt would be looked for.',
  ],
]);

const receiptRules = mutationsOf('src/proof/evm/receipt.ts', vectors, [
  [
    'type of a receipt',
    'decodeRlp(type <= 0x7f ? bytes.subarray(1) : bytes, what)',
    'decodeRlp(type < 0xc0 ? bytes.subarray(1) : bytes, what)',
    'Two verifiers would differ.',
  ],
  [
    'fields of a receipt',
    'if (more.length > 0 && !(type === depositType && more.length === 2)) {',
    'if (more.length > 9) {',
    'Readers could take an unchecked field for proved.',
  ],
  [
    'deposits only',
    '!(type === depositType && more.length === 2)',
    'more.length !== 2',
    'Two verifiers would differ.',
  ],
  [
    'fields of a deposit',
    '!(type === depositType && more.length === 2)',
    'type !== depositType',
    'Two verifiers would differ.',
  ],
  ['gas of a receipt', 'integerOf(gas, `the gas', 'bytesOf(gas, `the gas', 'Two verifiers would differ.'],
  ['bloom filter', '`, 256);', '`);', 'Two verifiers would differ.'],
  [
    'numbers of a deposit',
    'for (const field of more) integerOf(',
    'for (const field of more) bytesOf(',
    'Two verifiers would differ.',
  ],
  [
    'status zero',
    'if (bytes.length === 0) return false;',
    'if (bytes.length === 0) return true;',
    'A transaction that was undone would count.',
  ],
  [
    'other status',
    "throw new EvmFault('the status of the receipt is neither 0 nor 1');",
    'return true;',
    'A receipt that does not say whether it succeeded would count.',
  ],
  [
    'long status',
    'if (bytes.length === 1 && bytes[0] === 1) return true;',
    'if (bytes[0] === 1) return true;',
    'Two verifiers would differ.',
  ],
  [
    'fields of a log',
    'if (fields.length !== 3) throw',
    'if (fields.length < 3) throw',
    'Two verifiers would differ.',
  ],
  [
    'five topics',
    'if (topics.length > 4) throw',
    'if (topics.length > 5) throw',
    'Two verifiers would differ.',
  ],
  [
    'address of a log',
    "'the address of a log', 20)",
    "'the address of a log')",
    'Two verifiers would differ.',
  ],
  [
    'length of a topic',
    "bytesOf(topic, 'a topic', 32)",
    "bytesOf(topic, 'a topic')",
    'Two verifiers would differ.',
  ],
]);

const inclusionRules = mutationsOf('src/proof/evm/inclusion.ts', vectors, [
  [
    'size of an inclusion',
    'if (size > maxInclusionBytes) throw',
    'if (size > maxInclusionBytes + 1) throw',
    'Two verifiers would differ.',
  ],
  [
    'smaller inclusions',
    'if (size > maxInclusionBytes) throw',
    'if (size >= maxInclusionBytes) throw',
    'Two verifiers would differ.',
  ],
  [
    'event of the log',
    'const topics = [anchoredTopic, word(',
    'const topics = [logs[0]?.topics[0], word(',
    'Another event of the registry could pass for an anchor.',
  ],
  [
    'contract of a log',
    'log.address === registry.toLowerCase() && log.topics',
    'log.topics',
    'Any contract could log an anchor.',
  ],
  [
    'topics of a log',
    '&& log.topics.join() === topics && log.data',
    '&& log.data',
    'The anchor of another root, or by somebody else, would count.',
  ],
  [
    'more topics than three',
    'log.topics.join() === topics',
    'log.topics.join().startsWith(topics)',
    'Two verifiers would differ.',
  ],
  [
    'data of a log',
    '&& log.data === data,',
    '&& log.data.length > 0,',
    'The document could state another size.',
  ],
  ['more data', '&& log.data === data,', '&& log.data.startsWith(data),', 'Two verifiers would differ.'],
  [
    'fields of a header',
    'if (fields.length < 15) throw',
    'if (fields.length < 14) throw',
    'Two verifiers would differ.',
  ],
]);

export const inclusionMutations = [...rlpRules, ...trieRules, ...receiptRules, ...inclusionRules];
