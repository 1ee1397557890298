/** OpenTimestamps: each rule of the format of a file. */
import { createHash } from 'node:crypto';
import { type Hex, keccak256 } from 'viem';
import type { OpenTimestampsAnchor } from '../../../src/proof/opentimestamps/anchor.ts';
import { makeBlock } from '../opentimestamps/bitcoin-block.ts';
import {
  attestation,
  bitcoinAttestation,
  detachedFile,
  pendingAttestation,
  varint,
} from '../opentimestamps/trails.ts';
import { type BitcoinProof, openTimestamps } from './clocks.ts';
import { minedAt } from './good-vectors.ts';
import type { Outcome } from './vector.ts';

/** Where all of these files lead. */
export const committed = { height: 925_000, at: minedAt };
const { height } = committed;
const fork = Buffer.of(0xff);
const bitcoinTag = '0588960d73d71901';
const litecoinTag = '06869a0d73d71b45';
const pendingTag = '83dfe30d2ef90c8e';

export const holds: Outcome = { time: minedAt };
export const fails: Outcome = { fail: ['block'], skip: ['time'], time: null };

export type OtsRow = [
  name: string,
  about: string,
  outcome: Outcome,
  given: { anchor: OpenTimestampsAnchor; trusted?: { height: number; hash: Hex }[]; at?: string },
];

/** Files with a second branch that leads to no block: a fault in it fails the whole file. */
export function otsFormRows({ imprint, operations, file, block }: BitcoinProof): OtsRow[] {
  const own = Buffer.concat([...operations, bitcoinAttestation(height)]);
  /** The good file with this beside the way to the block. */
  const beside = (...parts: Uint8Array[]) => ({
    anchor: openTimestamps(detachedFile(imprint, fork, ...parts, own), block),
  });
  const edited = (edit: (file: Buffer) => Uint8Array) => ({
    anchor: openTimestamps(edit(Buffer.from(file)), block),
  });
  const at = (place: number, ...bytes: number[]) =>
    edited((all) =>
      Buffer.concat([all.subarray(0, place), Buffer.from(bytes), all.subarray(place + bytes.length)]),
    );
  const number = (tag: string, ...payload: number[]) => attestation(tag, Buffer.from(payload));
  const pending = pendingAttestation('https://a.example');
  return [
    ['beside', 'A second calendar that is still pending is no fault.', holds, beside(pending)],
    ['every-operation', 'Operations of every kind lead to the block.', holds, everyOperation(imprint)],
    ['magic', 'The file begins in another way.', fails, at(0, 0x01)],
    ['empty', 'The file has one byte.', fails, edited((all) => all.subarray(0, 1))],
    ['version-2', 'The format has another version.', fails, at(31, 2)],
    [
      'version-in-two-bytes',
      'The version is written with a needless zero.',
      fails,
      edited((all) => Buffer.concat([all.subarray(0, 31), Buffer.of(0x81, 0x00), all.subarray(32)])),
    ],
    ['hash-unknown', 'The file names an unknown hash function.', fails, at(32, 0xf2)],
    ['hash-keccak', 'The file names Keccak-256, and the digest is that of the root.', fails, at(32, 0x67)],
    ['digest', 'The file is about another digest.', fails, at(33, 0)],
    ['cut-off', 'The last byte is missing.', fails, edited((all) => all.subarray(0, -1))],
    ['surplus', 'A byte follows.', fails, edited((all) => Buffer.concat([all, Buffer.of(0)]))],
    [
      'number-too-large',
      'A height of more than 32 bits.',
      fails,
      beside(number(bitcoinTag, 0x80, 0x80, 0x80, 0x80, 0x10)),
    ],
    [
      'number-of-six-bytes',
      'A height of six bytes.',
      fails,
      beside(number(bitcoinTag, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00)),
    ],
    [
      'number-largest',
      'The largest height there is.',
      holds,
      beside(number(bitcoinTag, 0xff, 0xff, 0xff, 0xff, 0x0f)),
    ],
    ['number-with-zeros', 'A height with a needless zero.', fails, beside(number(bitcoinTag, 0x87, 0x00))],
    ['number-cut-off', 'A height that goes on after its payload.', fails, beside(number(bitcoinTag, 0x87))],
    [
      'number-that-goes-on',
      'A height of five bytes, the last of which says that another follows.',
      fails,
      beside(number(bitcoinTag, 0x87, 0x80, 0x80, 0x80, 0x80)),
    ],
    ['number-missing', 'An attestation of Bitcoin without a height.', fails, beside(number(bitcoinTag))],
    ['bitcoin-surplus', 'A byte follows the height.', fails, beside(number(bitcoinTag, 7, 0))],
    ['litecoin', 'An attestation of Litecoin is of no interest.', holds, beside(number(litecoinTag, 7))],
    [
      'litecoin-of-the-same-height',
      'A block of Litecoin with the height of the Bitcoin block commits to something else.',
      holds,
      beside(attestation(litecoinTag, varint(height))),
    ],
    ['litecoin-surplus', 'A byte follows the height of Litecoin.', fails, beside(number(litecoinTag, 7, 0))],
    [
      'litecoin-with-zeros',
      'A height of Litecoin with a needless zero.',
      fails,
      beside(number(litecoinTag, 0x87, 0x00)),
    ],
    [
      'pending-surplus',
      'A byte follows the address of a calendar.',
      fails,
      beside(number(pendingTag, 1, 0x61, 0)),
    ],
    [
      'pending-query',
      'An address with a question mark.',
      fails,
      beside(pendingAttestation('https://a.example/?q')),
    ],
    [
      'pending-line-break',
      'An address that ends with a line break.',
      fails,
      beside(pendingAttestation('https://a.example\n')),
    ],
    [
      'pending-umlaut',
      'An address that is not ASCII.',
      fails,
      beside(pendingAttestation('https://ä.example')),
    ],
    ['pending-empty', 'An empty address.', holds, beside(pendingAttestation(''))],
    [
      'unknown-attestation',
      'The payload of an unknown attestation is ignored.',
      holds,
      beside(attestation('0102030405060708', Buffer.of(0xff))),
    ],
    ['unknown-operation', 'An operation that does not exist.', fails, beside(Buffer.of(0x04), pending)],
    [
      'two-forks',
      'Two marks of a fork after each other.',
      fails,
      beside(fork, pending, pendingAttestation('b')),
    ],
    ['append-nothing', 'An operation that adds nothing.', fails, beside(Buffer.of(0xf0, 0), pending)],
    ['prepend-nothing', 'An operation that adds nothing.', fails, beside(Buffer.of(0xf1, 0), pending)],
    ['attestation-twice', 'An attestation occurs twice.', fails, beside(pending, fork, pending)],
    [
      'operation-twice',
      'An operation occurs twice on one message.',
      fails,
      beside(Buffer.of(0x08), pending, fork, Buffer.of(0x08), pendingAttestation('b')),
    ],
    [
      'operation-twice-with-argument',
      'An operation with the same argument occurs twice on one message.',
      fails,
      beside(Buffer.of(0xf0, 1, 7), pending, fork, Buffer.of(0xf0, 1, 7), pendingAttestation('b')),
    ],
    [
      'operation-twice-with-other-argument',
      'The same operation with two arguments.',
      holds,
      beside(Buffer.of(0xf0, 1, 7), pending, fork, Buffer.of(0xf0, 1, 8), pendingAttestation('b')),
    ],
  ];
}

/** By other implementations than the verifier's. */
function everyOperation(imprint: Uint8Array): OtsRow[3] {
  const hash = (name: string) => (message: Buffer) => createHash(name).update(message).digest();
  const steps: [number[], (message: Buffer) => Buffer][] = [
    [[0xf3], (message) => Buffer.from(message.toString('hex'))],
    [[0x02], hash('sha1')],
    [[0xf0, 1, 7], (message) => Buffer.concat([message, Buffer.of(7)])],
    [[0x03], hash('ripemd160')],
    [[0xf2], (message) => Buffer.from(message).reverse()],
    [[0x67], (message) => Buffer.from(keccak256(message, 'bytes'))],
    [[0xf1, 2, 8, 9], (message) => Buffer.concat([Buffer.of(8, 9), message])],
    [[0x08], hash('sha256')],
  ];
  const merkleRoot = steps.reduce<Buffer>((message, [, apply]) => apply(message), Buffer.from(imprint));
  const made = makeBlock({ height, time: Date.parse(minedAt), merkleRoot });
  const operations = Buffer.from(steps.flatMap(([bytes]) => bytes));
  const file = detachedFile(imprint, operations, bitcoinAttestation(height));
  return { anchor: openTimestamps(file, made), trusted: [made] };
}
