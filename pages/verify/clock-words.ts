/** Who each anchor of a document is, and what the reader can do about one that does not count. */
import { sha256 } from '@noble/hashes/sha2.js';
import { fromHex } from '../../src/proof/hex.ts';
import { blocksAt } from '../../src/proof/opentimestamps/judge.ts';
import { judgeTimestamp } from '../../src/proof/rfc3161/judge.ts';
import type { ReadTimestamps } from '../../src/proof/rfc3161/reading.ts';
import { timestampsOf } from '../../src/proof/verify/clocks.ts';
import { isTrustedBlock } from '../../src/proof/verify/evm-clock.ts';
import {
  type Anchor,
  isEvmAnchor,
  isOpenTimestampsAnchor,
  isTimestampAnchor,
  type Proof,
} from '../../src/proof/verify/proof.ts';
import { type Trust, timestampTrust, trustedChain } from '../../src/proof/verify/trust.ts';

export interface ClockWords {
  title: string;
  /** Empty if there is nothing to say. */
  note: string;
}

export interface ClockWordsGiven {
  trust: Trust;
  /** Milliseconds since 1970; now if it is absent. */
  at?: number;
  hasNode: boolean;
}

/** By `clockKey`. */
export type AllClockWords = Map<string, ClockWords>;

/** The place of an anchor in the document, as steps name it. */
export function clockKey({ renewal, anchor }: { renewal?: number; anchor?: number }): string {
  return `${renewal ?? ''}/${anchor ?? ''}`;
}

export async function clockWordsOf(proof: Proof, options: ClockWordsGiven): Promise<AllClockWords> {
  const given = { ...options, among: timestampsOf(proof, options.trust) };
  const all: AllClockWords = new Map();
  for (const [anchor, one] of proof.anchors.entries()) {
    all.set(clockKey({ anchor }), await wordsOf(one, proof.merkle.root, given));
  }
  for (const [renewal, { root, anchors }] of proof.renewals.entries()) {
    for (const [anchor, one] of anchors.entries()) {
      all.set(clockKey({ renewal, anchor }), await wordsOf(one, root, given));
    }
  }
  return all;
}

async function wordsOf(
  anchor: Anchor,
  root: Proof['merkle']['root'],
  given: ClockWordsGiven & { among: ReadTimestamps },
): Promise<ClockWords> {
  const { trust, at = Date.now(), hasNode, among } = given;
  if (isEvmAnchor(anchor)) {
    const chain = trustedChain(anchor.chainId, trust);
    const title = `Block of ${chain?.name ?? `chain ${anchor.chainId}`}`;
    if (!chain?.isTrusted) {
      const why = chain ? 'This is a test network' : 'This is not a known public chain';
      return { title, note: `${why}: its clock counts only if you name it in a trust file.` };
    }
    if (!chain.isShipped) return { title, note: `This chain is ${chosen}.` };
    if (isTrustedBlock(anchor, trust)) return { title, note: `The hash of this block is ${chosen}.` };
    return { title, note: hasNode ? '' : 'Choose a chain node above to ask for this block.' };
  }
  if (isTimestampAnchor(anchor)) {
    const judged = await judgeTimestamp(anchor, {
      imprint: sha256(fromHex(root)),
      trust: timestampTrust(trust),
      ...{ at, among },
    });
    if (judged.status === 'fail' || !judged.signer) return { title: 'Timestamp authority', note: '' };
    const title = `Timestamp authority ${judged.signer.name}`;
    if (!judged.root) {
      return { title, note: 'If you trust this authority, give its root certificate in a trust file.' };
    }
    const { name, fingerprint } = judged.root;
    const whose = trust.isShipped ? 'part of the trust that ships' : `${chosen}`;
    return { title, note: `The root certificate ${name}, SHA-256 ${fingerprint}, is ${whose}.` };
  }
  if (!isOpenTimestampsAnchor(anchor)) return { title: anchor.type, note: '' };
  const isKnown = anchor.headers.some(({ height }) => blocksAt(trust.bitcoin, height).length > 0);
  if (isKnown) return { title: 'Bitcoin', note: `The hash of the block is ${chosen}.` };
  const [header] = anchor.headers;
  return {
    title: 'Bitcoin',
    note: header
      ? `Look up the hash of block ${header.height} at a source that you trust, and give it in a trust file.`
      : '',
  };
}

const chosen = 'not part of the trust that ships: whoever made your trust file chose it';
