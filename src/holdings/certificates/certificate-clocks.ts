/** Finds out who vouches for a proof when its certificate is made, and for whom each of them counts. */
import type { Hex } from 'viem';
import { sha256 } from 'viem/utils';
import { registryCodeHash } from '../../chain/registry/registry.ts';
import type { StoredChain } from '../../chain/stored-chain.ts';
import { fromHex } from '../../proof/hex.ts';
import { readBitcoinHeader } from '../../proof/opentimestamps/bitcoin-header.ts';
import type { TrustAnchor } from '../../proof/rfc3161/certificates.ts';
import { judgeTimestamp } from '../../proof/rfc3161/judge.ts';
import {
  type Anchor,
  isEvmAnchor,
  isOpenTimestampsAnchor,
  isTimestampAnchor,
  type Proof,
} from '../../proof/verify/proof.ts';
import type { Verification } from '../../proof/verify/steps.ts';
import { shippedTrust, type Trust } from '../../proof/verify/trust.ts';
import { verifyProof } from '../../proof/verify/verify.ts';
import type { BlockClock, CertificateClock, Standing } from './certificate-input.ts';
import { chainKind, ownChain } from './own-chain.ts';

export interface ClocksGiven {
  chain: StoredChain;
  /** Whether the block of the proof's batch is final. */
  isFinal: boolean;
  /** Roots that the operator chose; none for those that ship. */
  operatorRoots: readonly TrustAnchor[];
  at: Date;
  /** The one that ships, unless a test has its own. */
  trust?: Trust;
}

/** Throws when the proof does not verify: nobody certifies such a one. */
export async function certificateClocks(
  proof: Proof,
  given: ClocksGiven,
): Promise<[BlockClock, ...CertificateClock[]]> {
  const { operatorRoots, chain, isFinal, trust = shippedTrust } = given;
  const asked = {
    at: given.at.getTime(),
    chain: ownChain(proof, chain, isFinal),
    registry: { address: chain.registry, codeHash: registryCodeHash },
  };
  const shipped = await verifyProof(proof, { ...asked, trust });
  requireSound(proof, shipped);
  const own = { ...trust, isShipped: false, tsaRoots: operatorRoots };
  const chosen = operatorRoots.length === 0 ? null : await verifyProof(proof, { ...asked, trust: own });
  const clocks: CertificateClock[] = [];
  for (const placed of placedAnchors(proof)) {
    const isTrusted = (result: Verification | null) => result !== null && isPassed(result, placed);
    const standing = isTrusted(shipped) ? 'shipped' : isTrusted(chosen) ? 'operator' : 'nobody';
    const clock = await clockOf(placed, standing, given);
    if (clock) clocks.push(clock);
  }
  const [first, ...others] = clocks;
  if (first?.kind !== 'block') throw new Error(`the proof of ${proof.subject.id} has no block`);
  return [first, ...others];
}

function requireSound({ subject }: Proof, { verdict, steps }: Verification): void {
  if (verdict !== 'fail') return;
  const failed = steps.filter(({ status }) => status === 'fail').map(({ name }) => name);
  throw new Error(`the proof of ${subject.id} fails: ${failed.join(', ')}`);
}

interface PlacedAnchor {
  anchor: Anchor;
  /** What it is to vouch for. */
  root: Hex;
  /** Where it is in the document, as steps name it. */
  renewal: number | undefined;
  place: number;
}

/** Those of the batch itself, then those of later batches whose heads cover its root, directly or through each other. */
function placedAnchors({ merkle, anchors, renewals }: Proof): PlacedAnchor[] {
  const covering: (number | undefined)[] = [undefined];
  for (const container of covering) {
    for (const [place, { covers }] of renewals.entries()) {
      if (covers.anchor === null && covers.renewal === (container ?? null)) covering.push(place);
    }
  }
  return covering.flatMap((renewal) => {
    const of = renewal === undefined ? undefined : renewals[renewal];
    const root = of?.root ?? merkle.root;
    return (of?.anchors ?? anchors).map((anchor, place) => ({ anchor, root, renewal, place }));
  });
}

function isPassed({ steps }: Verification, { renewal, place }: PlacedAnchor): boolean {
  const mine = steps.filter((step) => step.renewal === renewal && step.anchor === place);
  return mine.length > 0 && mine.every(({ status }) => status === 'pass');
}

/** Null for an anchor of a type that is not known. */
async function clockOf(
  { anchor, root, renewal }: PlacedAnchor,
  standing: Standing,
  { chain, isFinal, operatorRoots, at, trust = shippedTrust }: ClocksGiven,
): Promise<CertificateClock | null> {
  const isLater = renewal !== undefined;
  if (isEvmAnchor(anchor)) {
    const { chainId, blockNumber: number, blockHash: hash, blockTime, transactionHash } = anchor;
    const kind = chainKind(chain);
    return {
      ...{ kind: 'block', chainId, number, hash, transactionHash, isLater, ...kind },
      // The clock of a test network is no evidence, however final its blocks are.
      standing: kind.chain === 'public' ? standing : 'nobody',
      at: new Date(blockTime * 1000),
      isFinal: isFinal && !isLater,
    };
  }
  if (isTimestampAnchor(anchor)) {
    const judged = await judgeTimestamp(anchor, {
      imprint: fromHex(sha256(fromHex(root))),
      trust: { roots: [...trust.tsaRoots, ...operatorRoots], policies: [] },
      at: at.getTime(),
    });
    if (judged.status === 'fail' || !judged.signer || judged.time === undefined) return null;
    const { time, accuracyMs = 0, signer, validUntil = time } = judged;
    return {
      ...{ kind: 'authority', standing, isLater, name: signer.name, root: judged.root ?? null },
      at: new Date(time + accuracyMs),
      validUntil: new Date(validUntil),
      isRenewed: judged.status === 'expired' && standing !== 'nobody',
    };
  }
  if (!isOpenTimestampsAnchor(anchor)) return null;
  const [block] = anchor.headers
    .map(({ height, header }) => ({ height, ...readBitcoinHeader(header) }))
    .toSorted((one, other) => one.time - other.time);
  return block
    ? { kind: 'bitcoin', standing, isLater, at: new Date(block.time), height: block.height, hash: block.hash }
    : null;
}
