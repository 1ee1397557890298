/** Receipts and logs: what breaks a rule, and what only resembles an anchor. */
import { concatBytes, type Hex, hexToBytes } from 'viem';
import { usualRegistry } from '../../../src/proof/evm/usual-registry.ts';
import { anchorLog } from '../chain/inclusion-fixtures.ts';
import { fixed, submitter } from '../fixtures/proof-fixture.ts';
import { type CraftedRow, encode, list } from './crafted-block.ts';
import { failsChain, holds } from './evm-vectors.ts';

const hex = (digits: string) => hexToBytes(`0x${digits}`);

export const receiptRows: CraftedRow[] = [
  ['receipt-of-the-oldest-form', 'A receipt without a type.', holds, { type: 0 }],
  ['receipt-of-an-unknown-type', 'Any type up to 0x7f has the same four fields.', holds, { type: 0x7f }],
  [
    'receipt-of-a-deposit',
    'A deposit of the OP Stack has two fields more.',
    holds,
    { type: 0x7e, receipt: deposit('05', '01') },
  ],
  ['receipt-of-an-old-deposit', 'An old deposit of the OP Stack has four fields.', holds, { type: 0x7e }],
  [
    'receipt-of-a-deposit-one-more',
    'A deposit with one field more.',
    failsChain,
    { type: 0x7e, receipt: deposit('05') },
  ],
  [
    'receipt-of-a-deposit-three-more',
    'A deposit with three more.',
    failsChain,
    { type: 0x7e, receipt: deposit('05', '01', '01') },
  ],
  [
    'receipt-of-a-deposit-not-integers',
    'Its numbers begin with zeros.',
    failsChain,
    { type: 0x7e, receipt: deposit('820005', '01') },
  ],
  ['receipt-of-six-fields', 'Only deposits have six fields.', failsChain, { receipt: deposit('05', '01') }],
  [
    'receipt-of-three-fields',
    'The logs are missing.',
    failsChain,
    { receipt: (fields) => fields.slice(0, 3) },
  ],
  [
    'receipt-reverted',
    'The transaction was reverted.',
    failsChain,
    { receipt: (fields) => fields.with(0, hex('80')) },
  ],
  [
    'receipt-status-2',
    'A status that does not exist.',
    failsChain,
    { receipt: (fields) => fields.with(0, hex('02')) },
  ],
  [
    'receipt-status-of-two-bytes',
    'A status of two bytes.',
    failsChain,
    { receipt: (fields) => fields.with(0, hex('820101')) },
  ],
  [
    'receipt-with-state-root',
    'From before Byzantium: it does not say whether the transaction succeeded.',
    failsChain,
    { type: 0, receipt: (fields) => fields.with(0, encode(fixed(0x01))) },
  ],
  [
    'receipt-gas-largest',
    'The gas is 2^53 - 1.',
    holds,
    { receipt: (fields) => fields.with(1, hex('871fffffffffffff')) },
  ],
  [
    'receipt-gas-beyond-2-53',
    'The gas is 2^53.',
    failsChain,
    { receipt: (fields) => fields.with(1, hex('8720000000000000')) },
  ],
  [
    'receipt-gas-with-leading-zero',
    'The gas begins with a zero byte.',
    failsChain,
    { receipt: (fields) => fields.with(1, hex('8300c350')) },
  ],
  [
    'receipt-bloom-of-255-bytes',
    'The bloom filter is too short.',
    failsChain,
    { receipt: (fields) => fields.with(2, encode(`0x${'00'.repeat(255)}`)) },
  ],
  [
    'receipt-surplus',
    'A byte follows the receipt.',
    failsChain,
    { receiptBytes: (bytes) => concatBytes([bytes, hex('00')]) },
  ],
  ['receipt-empty', 'A receipt of no bytes.', failsChain, { receiptBytes: () => new Uint8Array() }],
  [
    'receipt-of-its-type-alone',
    'Nothing follows the type of the receipt.',
    failsChain,
    { receiptBytes: () => hex('02') },
  ],
  [
    'receipt-type-twice',
    'A second type before the list.',
    failsChain,
    { receiptBytes: (bytes) => concatBytes([hex('02'), bytes]) },
  ],
  ['receipt-type-above-7f', 'A type above 0x7f before the list.', failsChain, { type: 0x81 }],
  [
    'logs-several',
    'The anchor is one of several logs.',
    holds,
    { logs: (log) => [otherLog({}), log, otherLog({ topics: hex('c0'), data: hex('80') })] },
  ],
  [
    'log-with-one-byte-of-data',
    'The data of another log is one byte that does not stand for itself.',
    holds,
    { logs: (log) => [log, otherLog({ data: hex('8180') })] },
  ],
  [
    'log-of-one-field',
    'Another log has only one field.',
    failsChain,
    { logs: (log) => [log, list([hex('c0')])] },
  ],
  [
    'log-of-four-fields',
    'The log of the anchor has a field too many.',
    failsChain,
    { log: (parts) => [...parts, hex('80')] },
  ],
  [
    'log-address-of-21-bytes',
    'Another log has an address of 21 bytes.',
    failsChain,
    { logs: (log) => [log, otherLog({ address: encode(`0x${'ab'.repeat(21)}`) })] },
  ],
  [
    'log-with-five-topics',
    'Another log has five topics.',
    failsChain,
    { logs: (log) => [log, otherLog({ topics: list(Array.from({ length: 5 }, () => encode(fixed(1)))) })] },
  ],
  [
    'log-with-four-topics',
    'Another log has four topics.',
    holds,
    { logs: (log) => [log, otherLog({ topics: list(Array.from({ length: 4 }, () => encode(fixed(1)))) })] },
  ],
  [
    'log-topic-of-31-bytes',
    'Another log has a topic of 31 bytes.',
    failsChain,
    { logs: (log) => [log, otherLog({ topics: list([encode(`0x${'ab'.repeat(31)}`)]) })] },
  ],
  [
    'log-topics-a-string',
    'The topics of another log are no list.',
    failsChain,
    { logs: (log) => [log, otherLog({ topics: hex('80') })] },
  ],
  [
    'log-data-a-list',
    'The data of another log is a list.',
    failsChain,
    { logs: (log) => [log, otherLog({ data: hex('c0') })] },
  ],
];

function deposit(...more: string[]) {
  return (fields: Uint8Array[]) => [...fields, ...more.map(hex)];
}

function otherLog({
  address = encode(`0x${'ab'.repeat(20)}`),
  topics = list([encode(fixed(0x01))]),
  data = encode('0xabcd'),
}): Uint8Array {
  return list([address, topics, data]);
}

/** The log of the anchor itself: what only resembles it. */
export function logRows({ root, size }: { root: Hex; size: number }): CraftedRow[] {
  const anchored = { registry: usualRegistry, submitter, root, size };
  const stranger: Hex = `0x${'99'.repeat(20)}`;
  const { topics, data } = anchorLog(anchored);
  const [event, who, what] = topics as [Hex, Hex, Hex];
  const rows: [name: string, about: string, log: { address?: Hex; topics?: Hex[]; data?: Hex }][] = [
    ['another-contract', 'Another contract logged it.', { address: stranger }],
    [
      'another-submitter',
      'Somebody else anchored the root.',
      { topics: [event, `0x${'00'.repeat(12)}${stranger.slice(2)}`, what] },
    ],
    ['another-root', 'Another root was anchored.', { topics: [event, who, fixed(0x99)] }],
    ['another-event', 'Another event has the same values.', { topics: [fixed(0x99), who, what] }],
    ['another-order', 'Submitter and root are exchanged.', { topics: [event, what, who] }],
    ['one-topic-more', 'A fourth topic.', { topics: [...topics, what] }],
    ['one-topic-less', 'The root is missing.', { topics: [event, who] }],
    [
      'submitter-with-more',
      'More than an address in the topic.',
      { topics: [event, `0x01${who.slice(4)}`, what] },
    ],
    ['another-size', 'Another size was anchored.', { data: anchorLog({ ...anchored, size: size + 1 }).data }],
    ['size-of-33-bytes', 'A byte follows the size.', { data: `${data}00` }],
    ['size-of-one-byte', 'The size without its zeros.', { data: `0x0${size}` }],
    ['size-with-more', 'A number above 2^64 that ends like the size.', { data: `0x01${data.slice(4)}` }],
  ];
  return rows.map(([name, about, log]) => [
    `log-of-${name}`,
    about,
    failsChain,
    {
      log: (parts) => [
        log.address ? encode(log.address) : (parts[0] ?? hex('80')),
        log.topics ? encode(log.topics) : (parts[1] ?? hex('80')),
        log.data ? encode(log.data) : (parts[2] ?? hex('80')),
      ],
    },
  ]);
}
