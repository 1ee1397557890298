/** What is asked of a node and believed of its answers, each rule left out: a vector has to turn red. */
import { mutationsOf } from './mutation.ts';

const vectors = ['src/proof/verify/vectors.test.ts'];
const imitated = 'A tool for developers could imitate a public chain.';
const differ = 'Two verifiers would differ.';
const anything = 'Anything in a log could pass for an anchor.';

export const nodeMutations = [
  ...mutationsOf('src/proof/verify/evm-clock.ts', vectors, [
    [
      'registry on another chain',
      'if (other !== null) return skip(other);\n    const codeHash',
      "if (other === '') return skip(other);\n    const codeHash",
      'A node of another chain would contradict, or vouch for, a contract that it does not have.',
    ],
  ]),
  ...mutationsOf('src/chain/registry/anchor-reader.ts', vectors, [
    ['anvil', '/anvil|hardhat', '/hardhat', imitated],
    ['Hardhat', 'hardhat|', '', imitated],
    ['Ganache', '|ganache|', '|', imitated],
    ['TestRPC', '|testrpc/i', '/i', imitated],
    ['capital letters of a program', 'testrpc/i.test', 'testrpc/.test', imitated],
    [
      'transaction that succeeded',
      "succeeded: quantity(status, 'status of a transaction') === 1,",
      "succeeded: quantity(status, 'status of a transaction') >= 0,",
      'A transaction that was undone would count.',
    ],
    ['name of no program', " || name === ''", '', differ],
    [
      'receipt of another transaction',
      "if (hash32(transactionHash, 'transaction hash') !== wanted) throw badForm('receipt');",
      '',
      anything,
    ],
    ['length of a hash', 'if (text.length !== 66) throw badForm(what);', '', differ],
    ['digits of a number', '{1,14}$/.test', '{1,64}$/.test', differ],
    [
      'number beyond 2^53',
      'if (!Number.isSafeInteger(number)) throw',
      'if (Number.isNaN(number)) throw',
      differ,
    ],
    ['capital X of a number', '/^0x[0-9a-fA-F]{1,14}$/.test', '/^0x[0-9a-f]{1,14}$/i.test', differ],
    ['event of a log', 'if (topic !== anchoredTopic || !submitter', 'if (!submitter', anything],
    ['padding of a submitter', '!submitter?.startsWith(padding) || ', '', anything],
    [
      'topics too many',
      'if (more.length > 0 || size.length !== 66) return [];',
      'if (size.length !== 66) return [];',
      anything,
    ],
    [
      'size of any length',
      'if (more.length > 0 || size.length !== 66) return [];',
      'if (more.length > 0) return [];',
      anything,
    ],
    [
      'final block that nobody names',
      "if (final === null) throw new Error('the node does not say which block is final');",
      'if (final === null) return { head: newest, finalized: newest };',
      'A block would count that the chain may still drop.',
    ],
    [
      'rule of finality',
      "if (rule !== 'finalized') return",
      "if (rule === 'finalized') return { head: newest, finalized: newest };\n      if (rule !== 'finalized') return",
      'A block would count that the chain may still drop.',
    ],
  ]),
];
