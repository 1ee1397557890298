/** What the attestations of a file vouch for: the messages at the ends of its operations. */
import { applyOperation } from './operations.ts';
import { type Attested, attestedIn, type DetachedFile, type OperationPath } from './timestamp.ts';

export interface PendingCommitment {
  attested: Attested;
  /** Of the calendar that has it, as written in the file. */
  uri: string;
  commitment: Uint8Array;
  /** Whether the file already leads on from the commitment to a Bitcoin block. */
  complete: boolean;
}

export interface BitcoinCommitment {
  attested: Attested;
  height: number;
  /** In the order of bytes of a block header; only 32 bytes can be one. */
  merkleRoot: Uint8Array;
}

export function pendingIn(file: DetachedFile): PendingCommitment[] {
  const messageAt = createMessages(file);
  const all = attestedIn(file.tree);
  const before = beforeBlocks(all);
  const found: PendingCommitment[] = [];
  for (const attested of all) {
    const { attestation, path } = attested;
    if (attestation.kind !== 'pending') continue;
    const commitment = messageAt(path);
    found.push({ attested, uri: attestation.uri, commitment, complete: before.has(path) });
  }
  return found;
}

export function bitcoinIn(file: DetachedFile): BitcoinCommitment[] {
  return [...eachBitcoin(file)];
}

/** Computes nothing for attestations of blocks that are not `wanted`, and nothing ahead. */
export function* eachBitcoin(
  file: DetachedFile,
  wanted: (height: number) => boolean = () => true,
): Generator<BitcoinCommitment> {
  const messageAt = createMessages(file);
  for (const attested of attestedIn(file.tree)) {
    if (attested.attestation.kind !== 'bitcoin' || !wanted(attested.attestation.height)) continue;
    const { height } = attested.attestation;
    yield { attested, height, merkleRoot: messageAt(attested.path) };
  }
}

/**
 * Of the Bitcoin attestations that `fits` accepts, the one whose operations take the fewest bytes; of several, the one of the
 * lowest block, then the first. Null if there is none.
 */
export function smallestBitcoin(
  file: DetachedFile,
  fits: (commitment: BitcoinCommitment) => boolean = () => true,
): BitcoinCommitment | null {
  const [smallest] = bitcoinIn(file)
    .filter(fits)
    .map((commitment) => ({ commitment, bytes: bytesOf(commitment.attested.path) }))
    .sort((one, other) => one.bytes - other.bytes || one.commitment.height - other.commitment.height);
  return smallest?.commitment ?? null;
}

/** In a file: a tag, and where there is an argument also its length, which has one or two bytes. */
function bytesOf(path: OperationPath | null): number {
  let bytes = 0;
  for (let step = path; step !== null; step = step.before) {
    const { length } = step.operation.argument;
    bytes += length === 0 ? 1 : 2 + length + (length < 128 ? 0 : 1);
  }
  return bytes;
}

/** Everything on the way to a Bitcoin block. */
function beforeBlocks(all: Attested[]): Set<OperationPath | null> {
  const steps = new Set<OperationPath | null>();
  for (const { attestation, path } of all) {
    if (attestation.kind !== 'bitcoin') continue;
    let step = path;
    while (step !== null && !steps.has(step)) {
      steps.add(step);
      step = step.before;
    }
    steps.add(null);
  }
  return steps;
}

/** Applies each operation once, however many attestations come after it. */
function createMessages({ digest }: DetachedFile): (path: OperationPath | null) => Uint8Array {
  const known = new Map<OperationPath | null, Uint8Array>([[null, digest]]);
  return (end) => {
    const steps: OperationPath[] = [];
    let from = end;
    while (from !== null && !known.has(from)) {
      steps.push(from);
      from = from.before;
    }
    let message = known.get(from) ?? digest;
    for (const step of steps.reverse()) {
      message = applyOperation(step.operation, message);
      known.set(step, message);
    }
    return message;
  };
}
