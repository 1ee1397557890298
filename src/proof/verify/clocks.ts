/**
 * Asks every clock of a document. A timestamp token whose certificate has ended still counts if the head of a later batch
 * covers it and a clock of that batch vouches for a time at which the certificate was valid.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import type { Hex } from 'viem';
import { evidenceLeaf, headId } from '../head.ts';
import { fromHex, toHex } from '../hex.ts';
import { plainKeccak } from '../keccak.ts';
import { foldPath } from '../merkle.ts';
import { fileIn } from '../opentimestamps/anchor.ts';
import { judgeOpenTimestamps } from '../opentimestamps/judge.ts';
import { tokenIn } from '../rfc3161/anchor.ts';
import { judgeTimestamp } from '../rfc3161/judge.ts';
import { type ReadTimestamps, readTimestamps } from '../rfc3161/reading.ts';
import { allOf, type ClockGiven, type ClockResult, type Rooted } from './clock.ts';
import { evmSteps, judgeEvm } from './evm-clock.ts';
import {
  type Anchor,
  isEvmAnchor,
  isOpenTimestampsAnchor,
  isTimestampAnchor,
  type Proof,
  type Renewal,
} from './proof.ts';
import { existedWhen, fail, isoTime, pass, type Step, type StepResult, skip, type Voucher } from './steps.ts';
import { type Trust, timestampTrust } from './trust.ts';

export interface ClockResults {
  /** In the order of the document: the anchors, then each renewal with its anchors. */
  steps: Step[];
  time: StepResult;
  vouchers: Voucher[];
}

/** A root with its anchors: that of the document, or that of a renewal. */
interface Container extends Rooted {
  renewal: number | null;
  anchors: Anchor[];
}

interface Judged {
  steps: Step[];
  vouchers: Voucher[];
  whys: string[];
}

/** `isRooted`: whether the document leads to its root at all. */
export async function judgeClocks(proof: Proof, isRooted: boolean, given: ClockGiven): Promise<ClockResults> {
  const { merkle, anchors, renewals } = proof;
  const judged: Judged[] = [];
  const among = timestampsOf(proof, given.trust);
  // From the last renewal to the first, and then the document: a renewal covers only what comes before it.
  for (let place = renewals.length - 1; place >= -1; place -= 1) {
    const renewal = renewals[place];
    const container = renewal
      ? { renewal: place, root: renewal.root, size: renewal.size, anchors: renewal.anchors }
      : { renewal: null, root: merkle.root, size: merkle.size, anchors };
    const linked = renewal ? checkRenewal(place, proof) : null;
    const leads = renewal ? linked?.status === 'pass' : isRooted;
    const covering = (anchor: number | null) =>
      renewals.flatMap(({ covers }, other) =>
        covers.renewal === container.renewal && covers.anchor === anchor
          ? (judged[renewals.length - 1 - other]?.vouchers ?? [])
          : [],
      );
    const result = await judgeContainer(container, { leads, covering }, { ...given, among });
    if (linked) result.steps.unshift({ name: 'renewal', renewal: place, ...linked });
    judged.push(result);
  }
  judged.reverse();
  const [own] = judged as [Judged, ...Judged[]];
  const vouchers = own.vouchers.toSorted((one, other) => one.time - other.time);
  return {
    steps: judged.flatMap(({ steps }) => steps),
    time: timeOf(vouchers, own.whys, given.at),
    vouchers,
  };
}

/** The timestamp tokens of a document and of its renewals. */
export function timestampsOf({ anchors, renewals }: Proof, { tsaRoots }: Trust): ReadTimestamps {
  const all = [anchors, ...renewals.map((renewal) => renewal.anchors)].flat();
  return readTimestamps(all.filter(isTimestampAnchor), tsaRoots);
}

async function judgeContainer(
  container: Container,
  { leads, covering }: { leads: boolean; covering(anchor: number | null): Voucher[] },
  given: Omit<AnchorGiven, 'covering'>,
): Promise<Judged> {
  const judged: Judged = { steps: [], vouchers: [], whys: [] };
  for (const [place, anchor] of container.anchors.entries()) {
    const result = leads
      ? await judgeAnchor(anchor, container, { ...given, covering: covering(place) })
      : allOf(stepsOf(anchor), skip('The path does not lead to the root.'));
    const about =
      container.renewal === null ? { anchor: place } : { renewal: container.renewal, anchor: place };
    judged.steps.push(...result.steps.map(({ name, ...rest }) => ({ name, ...about, ...rest })));
    if (result.voucher) judged.vouchers.push(result.voucher);
    else judged.whys.push(result.why);
  }
  if (!leads) return judged;
  for (const { time, by, isShipped } of covering(null)) {
    judged.vouchers.push({ time, by: `${by}, through a later batch`, isShipped });
  }
  return judged;
}

interface AnchorGiven extends ClockGiven {
  among: ReadTimestamps;
  /** The clocks of later batches that cover this anchor. */
  covering: Voucher[];
}

function judgeAnchor(anchor: Anchor, rooted: Rooted, given: AnchorGiven): Promise<ClockResult> {
  if (isEvmAnchor(anchor)) return judgeEvm(anchor, rooted, given);
  if (isTimestampAnchor(anchor)) return judgeToken(anchor, rooted, given);
  if (isOpenTimestampsAnchor(anchor)) return judgeBitcoin(anchor, rooted, given);
  return Promise.resolve(
    allOf([], skip(`Anchors of the type ${anchor.type} are not known to this verifier.`)),
  );
}

function stepsOf(anchor: Anchor): ClockResult['steps'][number]['name'][] {
  if (isEvmAnchor(anchor)) return [...evmSteps];
  if (isTimestampAnchor(anchor)) return ['token'];
  return isOpenTimestampsAnchor(anchor) ? ['block'] : [];
}

async function judgeToken(
  anchor: Parameters<typeof judgeTimestamp>[0],
  { root }: Rooted,
  { trust, at, covering, among }: AnchorGiven,
): Promise<ClockResult> {
  const asked = {
    imprint: imprintOf(root),
    trust: timestampTrust(trust),
    among,
  };
  let judgement = await judgeTimestamp(anchor, { ...asked, at });
  let through: Voucher | null = null;
  // Clocks differ a little: one that is behind must not hide the others.
  const since = judgement.status === 'expired' ? judgement.time : 0;
  const renewedBy = earliest(covering.filter(({ time }) => time >= since));
  if (judgement.status === 'expired' && renewedBy) {
    through = renewedBy;
    judgement = await judgeTimestamp(anchor, { ...asked, at: renewedBy.time });
  }
  if (judgement.status !== 'pass') {
    const { status, reason } = judgement;
    return allOf(['token'], status === 'fail' ? fail(reason) : skip(reason));
  }
  const { time, accuracyMs, signer, revocation } = judgement;
  const renewed = through
    ? ` Its certificate has ended; ${through.by} vouches that the token existed before.`
    : '';
  const checked = revocation === 'checked' ? '' : ' Revocation not checked.';
  const { name, fingerprint } = judgement.root;
  return {
    steps: [
      {
        name: 'token',
        ...pass(
          `${signer.name} stamped the root on ${isoTime(time + accuracyMs)} at the latest, under the root ${name} (${fingerprint}).${checked}${renewed}`,
        ),
      },
    ],
    voucher: {
      time: time + accuracyMs,
      by: `the timestamp authority ${signer.name}`,
      isShipped: trust.isShipped && (through?.isShipped ?? true),
    },
    why: '',
  };
}

async function judgeBitcoin(
  anchor: Parameters<typeof judgeOpenTimestamps>[0],
  { root }: Rooted,
  { trust, until }: AnchorGiven,
): Promise<ClockResult> {
  const judgement = await judgeOpenTimestamps(anchor, {
    imprint: imprintOf(root),
    trust: { blocks: trust.bitcoin },
    at: until,
  });
  if (judgement.status !== 'pass') {
    const { status, reason } = judgement;
    return allOf(['block'], status === 'fail' ? fail(reason) : skip(reason));
  }
  const { time, height, message } = judgement;
  const by = `Bitcoin block ${height}, give or take 2 hours`;
  return {
    steps: [{ name: 'block', ...pass(message) }],
    voucher: { time, by, isShipped: trust.isShipped },
    why: '',
  };
}

/** Whether the item that a renewal covers is under its root. */
function checkRenewal(place: number, { merkle, anchors, renewals }: Proof): StepResult {
  const { covers, path, head, proof, root } = renewals[place] as Renewal;
  if (covers.renewal !== null && covers.renewal >= place) return fail('It covers no renewal before it.');
  const of = covers.renewal === null ? { root: merkle.root, anchors } : (renewals[covers.renewal] as Renewal);
  const anchor = covers.anchor === null ? null : of.anchors[covers.anchor];
  if (anchor === undefined) return fail('It covers an anchor that the document does not have.');
  const item = anchor === null ? fromHex(of.root) : itemOf(anchor);
  if (item === null)
    return fail('It covers an anchor that is neither a timestamp token nor an OpenTimestamps proof.');
  const evidenceRoot = foldPath(evidenceLeaf(sha256(item)), bytesOf(path), plainKeccak);
  if (toHex(evidenceRoot) !== head.evidenceRoot)
    return fail('The item is not among the evidence of its head.');
  const top = foldPath(headId(head), bytesOf(proof), plainKeccak);
  if (toHex(top) !== root) return fail(`The head leads to ${toHex(top)}, not to the root of the renewal.`);
  return pass(`The batch with the root ${root} covers it.`);
}

function itemOf(anchor: Anchor): Uint8Array | null {
  if (isTimestampAnchor(anchor)) return tokenIn(anchor);
  return isOpenTimestampsAnchor(anchor) ? fileIn(anchor) : null;
}

function timeOf([first, ...others]: Voucher[], whys: string[], at: number): StepResult {
  if (first === undefined) {
    return skip(`No clock that is trusted vouches for a time. ${[...new Set(whys)].join(' ')}`.trim());
  }
  const also = others.map(({ time, by }) => ` ${isoTime(time)} says ${by}.`).join('');
  return pass(`It existed ${existedWhen(first.time, at)}, says ${first.by}.${also}`);
}

function earliest(vouchers: Voucher[]): Voucher | null {
  return vouchers.toSorted((one, other) => one.time - other.time)[0] ?? null;
}

function imprintOf(root: Hex): Uint8Array {
  return sha256(fromHex(root));
}

function bytesOf(hashes: Hex[]): Uint8Array {
  return fromHex(`0x${hashes.map((hash) => hash.slice(2)).join('')}`);
}
