/** OpenTimestamps: the largest that is allowed, and one more. */
import { applyOperation } from '../../../src/proof/opentimestamps/operations.ts';
import { makeBlock } from '../opentimestamps/bitcoin-block.ts';
import {
  attestation,
  bitcoinAttestation,
  detachedFile,
  pendingAttestation,
  sha256,
  sized,
} from '../opentimestamps/trails.ts';
import { type BitcoinProof, openTimestamps } from './clocks.ts';
import { minedAt } from './good-vectors.ts';
import { committed, fails, holds, type OtsRow } from './ots-form-rows.ts';

const { height } = committed;
const fork = Buffer.of(0xff);

export function otsBoundRows(good: BitcoinProof): OtsRow[] {
  const { imprint, operations, block } = good;
  const own = Buffer.concat([...operations, bitcoinAttestation(height)]);
  const beside = (...parts: Uint8Array[]) => ({
    anchor: openTimestamps(detachedFile(imprint, fork, ...parts, own), block),
  });
  const appending = (length: number) => Buffer.concat([Buffer.of(0xf0), sized(Buffer.alloc(length))]);
  const unknown = (length: number, tag = 1) => attestation(`${tag}`.padStart(16, '0'), Buffer.alloc(length));
  const end = pendingAttestation('a');
  const usedByOwn = resultsOf(operations);
  /** Some hundred results of 4,096 bytes, and one more so that all together have this many bytes. */
  const results = (total: number) => {
    const whole = Math.floor((total - usedByOwn) / 4096);
    const rest = total - usedByOwn - whole * 4096;
    return beside(appending(4064), Buffer.alloc(whole - 1, 0xf2), end, fork, appending(rest - 32), end);
  };
  const filled = (total: number) => {
    const start = detachedFile(imprint, ...fillers(7), fork, unknown(0, 8), own).length;
    // The length of the last payload takes two bytes instead of one.
    return {
      anchor: openTimestamps(
        detachedFile(imprint, ...fillers(7), fork, unknown(total - start - 1, 8), own),
        block,
      ),
    };
  };
  const fillers = (count: number) =>
    Array.from({ length: count }, (_, place) => [fork, unknown(8192, place + 10)]).flat();
  const path = (count: number) => {
    const message = Array.from({ length: count }).reduce<Uint8Array>((bytes) => sha256(bytes), imprint);
    const made = makeBlock({ height, time: Date.parse(minedAt), merkleRoot: message });
    const anchor = openTimestamps(
      detachedFile(imprint, Buffer.alloc(count, 0x08), bitcoinAttestation(height)),
      made,
    );
    return { anchor, trusted: [made] };
  };
  return [
    ['operations-255', '255 operations after each other.', holds, path(255)],
    ['operations-256', '256 operations after each other.', fails, path(256)],
    ['message-4096', 'A message of 4,096 bytes.', holds, beside(appending(4064), end)],
    ['message-4097', 'A message of 4,097 bytes.', fails, beside(appending(4065), end)],
    ['message-hex-4096', 'Hex digits of 2,048 bytes.', holds, beside(appending(2016), Buffer.of(0xf3), end)],
    ['message-hex-4098', 'Hex digits of 2,049 bytes.', fails, beside(appending(2017), Buffer.of(0xf3), end)],
    [
      'argument-4097',
      'An argument of 4,097 bytes, which is too long by itself.',
      fails,
      beside(Buffer.of(0xf1), sized(Buffer.alloc(4097)), end),
    ],
    ['payload-8192', 'A payload of 8,192 bytes.', holds, beside(unknown(8192))],
    ['payload-8193', 'A payload of 8,193 bytes.', fails, beside(unknown(8193))],
    ['address-1000', 'An address of 1,000 characters.', holds, beside(pendingAttestation('a'.repeat(1000)))],
    ['address-1001', 'An address of 1,001 characters.', fails, beside(pendingAttestation('a'.repeat(1001)))],
    ['results-262144', 'All results have 262,144 bytes together.', holds, results(262_144)],
    ['results-262145', 'All results have 262,145 bytes together.', fails, results(262_145)],
    ['file-65536', 'A file of 65,536 bytes.', holds, filled(65_536)],
    ['file-65537', 'A file of 65,537 bytes, whose base64 has no more characters.', fails, filled(65_537)],
  ];
}

/** The bytes of all results on the way to the block. */
function resultsOf(operations: Buffer[]): number {
  let [message, sum] = [new Uint8Array(32), 0];
  for (const operation of operations) {
    const [tag = 0] = operation;
    // One byte of length is enough here.
    message = new Uint8Array(applyOperation({ tag, argument: operation.subarray(2) }, message));
    sum += message.length;
  }
  return sum;
}
