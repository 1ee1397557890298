/** What would help a verification that lacks something: a node, a trust file, content. Nothing here is part of the verdict. */
import { sha256 } from '@noble/hashes/sha2.js';
import { knownChain } from '../proof/evm/known-chains.ts';
import { fromHex } from '../proof/hex.ts';
import { blocksAt } from '../proof/opentimestamps/judge.ts';
import { judgeTimestamp } from '../proof/rfc3161/judge.ts';
import type { ReadTimestamps } from '../proof/rfc3161/reading.ts';
import { timestampsOf } from '../proof/verify/clocks.ts';
import {
  type Anchor,
  isEvmAnchor,
  isOpenTimestampsAnchor,
  isTimestampAnchor,
  type Proof,
} from '../proof/verify/proof.ts';
import type { Step, Verification } from '../proof/verify/steps.ts';
import { type Trust, timestampTrust, trustedChain } from '../proof/verify/trust.ts';

export interface HintsGiven {
  trust: Trust;
  /** Milliseconds since 1970. */
  at: number;
  hasContent: boolean;
  hasPasskeys?: boolean;
  hasNode: boolean;
}

/** One sentence each. Nothing helps where a clock already vouches. */
export async function hintsFor(proof: Proof, { steps }: Verification, given: HintsGiven): Promise<string[]> {
  const isOpen = (name: Step['name']) => steps.some((step) => step.name === name && step.status !== 'pass');
  const hints = given.hasContent ? [] : ['Give the content after the proof to compare it with the digest.'];
  if (isOpen('digest')) hints.push('Give --salt HEX, the key that the owner of the content keeps.');
  if (given.hasContent && !given.hasPasskeys && steps.some(isSigned) && proof.kind === 'signoff') {
    hints.push(
      'Give --passkeys FILE, passkeys.jsonl of the dossier, to see whether the worker had a passkey then.',
    );
  }
  if (!isOpen('time') || isOpen('path')) return hints;
  const roots = [
    { root: proof.merkle.root, anchors: proof.anchors },
    ...proof.renewals.map(({ root, anchors }) => ({ root, anchors })),
  ];
  const among = timestampsOf(proof, given.trust);
  const all = await Promise.all(
    roots.flatMap(({ root, anchors }) => anchors.map((anchor) => hintFor(anchor, root, { ...given, among }))),
  );
  return [...new Set([...hints, ...all.filter((hint) => hint !== null)])];
}

function isSigned({ name, status }: Step): boolean {
  return name === 'signature' && status === 'pass';
}

async function hintFor(
  anchor: Anchor,
  root: Proof['merkle']['root'],
  given: HintsGiven & { among: ReadTimestamps },
) {
  const { trust, at, hasNode, among } = given;
  if (isEvmAnchor(anchor)) {
    const { chainId, blockTime } = anchor;
    if (blockTime * 1000 > at) return null;
    const trusted = trustedChain(chainId, trust);
    if (trusted?.isTrusted) {
      const name = knownChain(chainId)?.name;
      const chain = name === undefined ? `chain ${chainId}` : `${name} (chain ${chainId})`;
      return hasNode ? null : `Give --rpc URL, a node of ${chain}, to ask for its block.`;
    }
    const what = trusted
      ? `${trusted.name} is a test network`
      : `Chain ${chainId} is not a known public chain`;
    const node = hasNode ? '' : ', and --rpc URL, a node of it';
    return `${what}: if you trust its clock, give --trust FILE with its id and genesis hash${node}.`;
  }
  if (isTimestampAnchor(anchor)) {
    const judged = await judgeTimestamp(anchor, {
      imprint: sha256(fromHex(root)),
      trust: timestampTrust(trust),
      ...{ at, among },
    });
    const isRootless = judged.status === 'untrusted' && judged.signer && !judged.root;
    return isRootless
      ? `If you trust the timestamp authority ${judged.signer?.name}, give --trust FILE with its root certificate.`
      : null;
  }
  if (isOpenTimestampsAnchor(anchor)) {
    const unknown = anchor.headers.find(({ height }) => blocksAt(trust.bitcoin, height).length === 0);
    return unknown
      ? `Give --trust FILE with the hash of Bitcoin block ${unknown.height} from a source that you trust.`
      : null;
  }
  return null;
}
