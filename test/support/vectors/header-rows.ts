/** Headers, and the RLP in them: what breaks a rule, and what only looks odd. */
import { concatBytes, hexToBytes } from 'viem';
import { type CraftedRow, encode } from './crafted-block.ts';
import { failsChain, holds } from './evm-vectors.ts';

const hex = (digits: string) => hexToBytes(`0x${digits}`);
/** The field of the header that nobody reads: extra data. */
const extra = (bytes: Uint8Array) => (fields: Uint8Array[]) => fields.with(12, bytes);

export const headerRows: CraftedRow[] = [
  ['good', 'A block made by hand, as it should be: the others differ from it in one thing.', holds, {}],
  [
    'header-of-15-fields',
    'A header from before all upgrades.',
    holds,
    { header: (fields) => fields.slice(0, 15) },
  ],
  ['header-of-14-fields', 'A field is missing.', failsChain, { header: (fields) => fields.slice(0, 14) }],
  [
    'header-of-20-fields',
    'Fields that later upgrades may append, also lists.',
    holds,
    { header: (fields) => [...fields, hex('c0'), hex('c2c1c0'), hex('07')] },
  ],
  [
    'header-surplus',
    'A byte follows the header.',
    failsChain,
    { headerBytes: (bytes) => concatBytes([bytes, hex('00')]) },
  ],
  [
    'header-cut-off',
    'The last byte of the header is missing.',
    failsChain,
    { headerBytes: (bytes) => bytes.slice(0, -1) },
  ],
  [
    'header-not-a-list',
    'The header is a string with the bytes of a header.',
    failsChain,
    {
      headerBytes: (bytes) => concatBytes([hex('b9'), Uint8Array.of(bytes.length >> 8, bytes.length), bytes]),
    },
  ],
  ['rlp-byte-of-128', 'A byte of 0x80 has a prefix.', holds, { header: extra(hex('8180')) }],
  ['rlp-string-of-55', 'A string of 55 bytes.', holds, { header: extra(hex(`b7${'ab'.repeat(55)}`)) }],
  ['rlp-string-of-56', 'A string of 56 bytes.', holds, { header: extra(hex(`b838${'ab'.repeat(56)}`)) }],
  [
    'rlp-string-of-55-in-the-long-form',
    'A string of 55 bytes in the long form.',
    failsChain,
    { header: extra(hex(`b837${'ab'.repeat(55)}`)) },
  ],
  ['rlp-list-of-55', 'A list of 55 bytes.', holds, { header: extra(hex(`f7${'05'.repeat(55)}`)) }],
  [
    'rlp-list-of-55-in-the-long-form',
    'A list of 55 bytes in the long form.',
    failsChain,
    { header: extra(hex(`f837${'05'.repeat(55)}`)) },
  ],
  ['rlp-byte-with-prefix', 'A byte below 0x80 has a prefix.', failsChain, { header: extra(hex('8105')) }],
  [
    'rlp-long-form-of-a-short-string',
    'A length in the long form.',
    failsChain,
    { header: extra(hex('b802beef')) },
  ],
  [
    'rlp-long-form-of-a-short-list',
    'A length in the long form.',
    failsChain,
    { header: extra(hex('f80105')) },
  ],
  [
    'rlp-length-with-leading-zero',
    'The length of a string begins with a zero byte.',
    failsChain,
    { header: extra(hex(`b90038${'ab'.repeat(56)}`)) },
  ],
  [
    'rlp-item-beyond-its-list',
    'An item is longer than the list that it is in.',
    failsChain,
    { header: (fields) => [...fields, hex('c182'), hex('01'), hex('01')] },
  ],
  [
    'rlp-four-levels',
    'Lists in lists, four deep.',
    holds,
    { header: (fields) => [...fields, hex('c2c1c0')] },
  ],
  [
    'rlp-five-levels',
    'Lists in lists, five deep.',
    failsChain,
    { header: (fields) => [...fields, hex('c3c2c1c0')] },
  ],
  [
    'header-root-of-33-bytes',
    'The root of the receipts has one byte more.',
    failsChain,
    { header: (fields) => fields.with(5, encode(`0x${'ab'.repeat(33)}`)) },
  ],
  [
    'header-number-with-leading-zero',
    'The number of the block begins with a zero byte.',
    failsChain,
    { header: (fields) => fields.with(8, encode('0x0001406f40')) },
  ],
  [
    'header-time-with-leading-zero',
    'The time of the block begins with a zero byte.',
    failsChain,
    { header: (fields) => fields.with(11, encode('0x006af8c4b2')) },
  ],
  [
    'header-number-a-list',
    'The number is a list.',
    failsChain,
    { header: (fields) => fields.with(8, hex('c0')) },
  ],
];
