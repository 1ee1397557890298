/**
 * Judges an OpenTimestamps anchor without a network. A header alone proves nothing, because anybody can make one: only a
 * block whose hash is trusted vouches for a time.
 */
import type { Hex } from 'viem';
import { toHex } from '../hex.ts';
import { createListIndex } from '../list-index.ts';
import { checkOpenTimestampsAnchor, fileIn, type OpenTimestampsAnchor } from './anchor.ts';
import { type BitcoinHeader, readBitcoinHeader } from './bitcoin-header.ts';
import { eachBitcoin } from './commitments.ts';
import { operationTags } from './operations.ts';
import { MalformedTimestamp, readDetachedFile } from './read.ts';
import { attestedIn, type DetachedFile } from './timestamp.ts';

/** Those of a trust file that have this height. */
export const blocksAt = createListIndex(({ height }: BitcoinTrust['blocks'][number]) => height);

export interface BitcoinTrust {
  /** Hashes as block explorers print them, in lower case. */
  blocks: readonly { height: number; hash: Hex }[];
}

export type OpenTimestampsJudgement =
  | {
      status: 'pass';
      height: number;
      /** Milliseconds since 1970, of the header: the earliest of the trusted blocks. Bitcoin's clock is right to 2 hours. */
      time: number;
      blockHash: Hex;
      /** A sentence, with the accuracy. */
      message: string;
    }
  /** Nothing contradicts, but no trusted block vouches. */
  | { status: 'untrusted'; reason: string }
  | { status: 'fail'; reason: string };

export interface OpenTimestampsGiven {
  /** SHA-256 of the 32 bytes of the batch root. */
  imprint: Uint8Array;
  trust: BitcoinTrust;
  /** Milliseconds since 1970. Blocks of a later time count as absent, unless they contradict. */
  at: number;
}

export async function judgeOpenTimestamps(
  anchor: OpenTimestampsAnchor,
  { imprint, trust, at }: OpenTimestampsGiven,
): Promise<OpenTimestampsJudgement> {
  const [fault] = checkOpenTimestampsAnchor(anchor, '');
  if (fault) return fail(`The OpenTimestamps anchor is malformed: ${fault.path || 'it'} ${fault.message}.`);
  const file = openFile(anchor);
  if (typeof file === 'string') return fail(`The .ots file is malformed: it ${file}.`);
  if (file.hashTag !== operationTags.sha256) return fail('The .ots file is not for a SHA-256 digest.');
  if (toHex(file.digest) !== toHex(imprint)) {
    return fail(`The .ots file is for the digest ${toHex(file.digest)}, but the root has ${toHex(imprint)}.`);
  }

  const blocks = anchor.headers.map(({ height, header }) => ({ height, ...readBitcoinHeader(header) }));
  const attested = heightsIn(file);
  for (const block of blocks) {
    const contradiction = contradictionOf(block, attested, trust);
    if (contradiction !== null) return fail(contradiction);
  }
  const roots = new Map(blocks.map(({ height, merkleRoot }) => [height, toHex(merkleRoot)]));
  // One after the other: the first that differs ends it, whatever else the file wants to have computed.
  for (const { height, merkleRoot } of eachBitcoin(file, (height) => roots.has(height))) {
    const root = roots.get(height);
    if (toHex(merkleRoot) !== root) {
      return fail(`The .ots file does not lead to the Merkle root of Bitcoin block ${height}, ${root}.`);
    }
  }

  const trusted = blocks.filter(({ height, hash }) =>
    blocksAt(trust.blocks, height).some((known) => known.hash === hash),
  );
  const [earliest] = trusted
    .filter(({ time }) => time <= at)
    .toSorted((one, other) => one.time - other.time || one.height - other.height);
  if (earliest === undefined) return untrusted(reasonFor(file, blocks, trusted));
  const { height, time, hash } = earliest;
  const message = `Bitcoin block ${height} vouches for ${new Date(time).toISOString()}, give or take 2 hours.`;
  return { status: 'pass', height, time, blockHash: hash, message };
}

interface Block extends BitcoinHeader {
  height: number;
}

/** The file, or what is wrong with it. */
function openFile(anchor: OpenTimestampsAnchor): DetachedFile | string {
  try {
    return readDetachedFile(fileIn(anchor));
  } catch (error) {
    if (error instanceof MalformedTimestamp) return error.message;
    throw error;
  }
}

/** What is wrong with a header, before anything is computed. */
function contradictionOf(
  { height, hash, hasWork }: Block,
  attested: number[],
  trust: BitcoinTrust,
): string | null {
  if (!attested.includes(height)) {
    return `The anchor has a header of Bitcoin block ${height}, of which the .ots file says nothing.`;
  }
  if (!hasWork) return `The header of Bitcoin block ${height} lacks the proof of work that it demands.`;
  const known = blocksAt(trust.blocks, height);
  if (known.length > 0 && known.every((block) => block.hash !== hash)) {
    return `The header of Bitcoin block ${height} has the hash ${hash}, but the trusted one is ${known[0]?.hash}.`;
  }
  return null;
}

/** Of all Bitcoin blocks that the file names. */
function heightsIn(file: DetachedFile): number[] {
  return attestedIn(file.tree).flatMap(({ attestation }) =>
    attestation.kind === 'bitcoin' ? [attestation.height] : [],
  );
}

function reasonFor(file: DetachedFile, blocks: Block[], trusted: Block[]): string {
  const [later] = trusted;
  if (later !== undefined) {
    return `Bitcoin block ${later.height}, of ${new Date(later.time).toISOString()}, is later than the time of judgement.`;
  }
  const [unknown] = blocks;
  if (unknown !== undefined) {
    return `No hash of Bitcoin block ${unknown.height} is trusted; the header has ${unknown.hash}.`;
  }
  const [height] = heightsIn(file);
  if (height !== undefined) return `The anchor has no header of Bitcoin block ${height}.`;
  return 'No Bitcoin block vouches for it yet: the .ots file is pending.';
}

const fail = (reason: string) => ({ status: 'fail', reason }) as const;
const untrusted = (reason: string) => ({ status: 'untrusted', reason }) as const;
