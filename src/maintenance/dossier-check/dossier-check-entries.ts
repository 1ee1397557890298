/** The checks of a dossier's entries, one by one: each on its own, its sign-offs, and how entries relate to each other. */

import { canonicalJsonOrNull } from '../../proof/canonical.ts';
import { toHex } from '../../proof/hex.ts';
import { leafHash } from '../../proof/leaf.ts';
import { isSignoffFormat, signoffFaults } from '../../proof/signoff/signoff-document.ts';
import { signoffTypedData } from '../../proof/signoff/signoff-message.ts';
import { utcTime } from '../../proof/utc-time.ts';
import type { EvmAnchor, Proof } from '../../proof/verify/proof.ts';
import { verifyProof } from '../../proof/verify/verify.ts';
import type { Usage } from '../signing/maintenance-entry.ts';
import { signoffsFault, verifySignoff } from '../signing/signoff.ts';
import { shownTypedData } from '../signing/typed-data.ts';
import { judgeCertifications, type Withdrawn } from './dossier-certifications.ts';
import type { CheckedAsset } from './dossier-check-asset.ts';
import { createEntryChain } from './dossier-check-chain.ts';
import type { CheckedPasskeys } from './dossier-check-passkeys.ts';
import { entryShapeFault } from './dossier-entry-shape.ts';
import { hasDigest } from './dossier-files.ts';
import type { FindingsLog } from './dossier-findings.ts';
import type { Dossier, DossierCounts, EntryLine, SignoffLine } from './dossier-format.ts';
import { type OrderedEntry, orderGaps } from './dossier-order.ts';
import { isOwnedThen, ownershipFault } from './dossier-ownership.ts';
import { createPerformerCheck } from './dossier-performers.ts';
import { releaseFault } from './dossier-releases.ts';
import { earlier, isLongBefore, statementFault, type Vouched } from './dossier-times.ts';
import { createUsageCheck } from './dossier-usage.ts';
import type { DossierVerifyOptions } from './dossier-verify-options.ts';

export interface EntryCheckDeps extends Pick<CheckedAsset, 'owned' | 'statedUsage' | 'versions'> {
  dossier: Dossier;
  passkeys: CheckedPasskeys;
  /** When the dossier with all of its entries existed, at the latest. */
  sealed: Vouched | null;
  findings: FindingsLog;
  options: DossierVerifyOptions;
}

export interface EntryCheck {
  entry(line: EntryLine): Promise<void>;
  /** After the last entry: the checks across all entries. */
  end(): CheckedEntries;
}

export interface CheckedEntries {
  /** Of all that the dossier has, proven or not. */
  counts: DossierCounts;
  /** Whether they are numbered from 1 without a gap, and each follows the one before. */
  isChain: boolean;
  /** Only what has a proof that holds. */
  proven: {
    entries: number;
    signoffs: number;
    certified: number;
    withdrawn: Withdrawn[];
    usage: Required<Usage>;
  };
}

/** What a proof must be about. */
interface Expected {
  kind: string;
  id: string;
  version: number;
  digest: string;
  document: unknown;
  /** When it says that it was recorded or signed. */
  stated: { verb: 'recorded' | 'signed'; at: string };
  /** When the service got it, if it was signed elsewhere before: only then can it have been sealed. */
  receivedAt?: string | undefined;
  previousLeaf?: string;
}

export function createEntryCheck(deps: EntryCheckDeps): EntryCheck {
  const { dossier, owned, sealed, statedUsage, versions: assetVersions, passkeys, findings, options } = deps;
  const { asset, workspaceId, counts } = dossier;
  const seen = new Set<string>();
  const chain = createEntryChain();
  const usage = createUsageCheck();
  const performers = createPerformerCheck();
  /** Corrections, by the entry that they supersede; then what entries state about themselves. */
  const corrections = new Map<string, string>();
  const superseded = new Map<string, string>();
  const counted: DossierCounts = {
    versions: assetVersions.size,
    entries: 0,
    provenEntries: 0,
    signoffs: 0,
    provenSignoffs: 0,
    certified: 0,
  };
  const proven = { entries: 0, signoffs: 0 };
  const certified = new Set<string>();
  /** Whether an entry does not say where it is in the chain. */
  let isMisplaced = false;
  /** The position of the previous entry: when the work was done, and its id. */
  let last = { performedAt: -Infinity, maintenanceId: '' };
  const ordered: OrderedEntry[] = [];

  /** Whether there is a proof, and it holds. */
  async function checkProof(
    place: string,
    { proof, unprovable, anchor }: Pick<EntryLine, 'proof' | 'unprovable' | 'anchor'>,
    expected: Expected,
  ): Promise<boolean> {
    if (proof === null) {
      checkStatement(place, expected, sealed);
      if (unprovable) findings.fault(place, 'has no proof, because what was stored is not what was anchored');
      else findings.gap('Entries or sign-offs that were not anchored yet when the dossier was created.');
      return false;
    }
    const content = new TextEncoder().encode(JSON.stringify(expected.document));
    const { steps, vouchers } = await verifyProof(proof, { ...options, content });
    if (!findings.steps(place, steps)) return false;
    findings.clocksOf(proof);
    const [vouched = null] = vouchers;
    checkStatement(place, expected, earlier(vouched, sealed));
    if (isLongBefore(expected.stated.at, vouched)) findings.gap(longBefore);
    if (!proof.anchors.some((one) => isAnchor(one, anchor))) {
      findings.fault(place, 'names a different anchor than its proof');
    }
    const wrong = mismatch(proof, expected);
    if (wrong !== null) findings.fault(place, `has a proof of something else: ${wrong}`);
    else if (!isOwnedThen(owned, proof.leaf.values[6], vouched)) findings.gap(sealedLater);
    return wrong === null;
  }

  function checkStatement(place: string, { stated, receivedAt }: Expected, vouched: Vouched | null): void {
    const untrue =
      statementFault(stated.verb, stated.at, vouched) ??
      (receivedAt === undefined ? null : statementFault('received', receivedAt, vouched));
    if (untrue !== null) findings.fault(place, untrue);
  }

  function mismatch({ kind, subject, content, leaf, claims }: Proof, expected: Expected): string | null {
    const [, , , , version, previousLeaf, vault] = leaf.values;
    if (kind !== expected.kind) return `its kind is ${kind}`;
    if (subject.workspaceId !== workspaceId || subject.id !== expected.id)
      return `its subject is ${subject.id}`;
    if (Number(version) !== expected.version) return `its version is ${version}`;
    if (content.digest !== expected.digest) return `its digest is ${content.digest}`;
    if (claims?.assetId !== asset.assetId) return 'it names another asset';
    const notOwned = ownershipFault(owned, vault, expected.receivedAt ?? expected.stated.at);
    if (notOwned !== null) return notOwned;
    if (expected.previousLeaf !== undefined && previousLeaf !== expected.previousLeaf) {
      return 'it does not follow the proof of its entry';
    }
    return null;
  }

  /** Whether it is valid and proven. */
  async function checkSignoff(entry: EntryLine, signoff: SignoffLine): Promise<boolean> {
    const { number, document, signoffHash, salt, typedData } = signoff;
    const place = `${entry.maintenanceId}, sign-off ${number} (${document.role})`;
    const { maintenanceId, maintenanceHash } = entry;
    const signed = { workspaceId, assetId: asset.assetId, maintenanceId, maintenanceHash };
    const faults = await verifySignoff(document, signed);
    const isReadable = isSignoffFormat(document) && signoffFaults(document).length === 0;
    const untrue = releaseFault(document, assetVersions);
    if (untrue !== null) faults.push(untrue);
    if (!hasDigest(salt, document, signoffHash)) faults.push('it does not match its hash');
    if (isReadable && !isSameJson(typedData, shownTypedData(signoffTypedData(document)))) {
      faults.push('the typed data listed with it is not what was signed');
    }
    const passkey = isReadable ? passkeys.judge(document) : { faults: [], isProven: false };
    faults.push(...passkey.faults);
    for (const fault of faults) findings.fault(place, fault);
    const isProven = await checkProof(place, signoff, {
      kind: 'signoff',
      id: maintenanceId,
      version: number,
      digest: signoffHash,
      document,
      stated: { verb: 'signed', at: document.signedAt },
      receivedAt: document.receivedAt,
      ...(entry.proof && { previousLeaf: toHex(leafHash(entry.proof.leaf.values)) }),
    });
    if (faults.length === 0 && (isProven || isPending(signoff))) findings.count('signoffs');
    return faults.length === 0 && isProven && passkey.isProven;
  }

  /** What is wrong with an entry on its own, apart from its proof. */
  function entryFaults(line: EntryLine): string[] {
    const { maintenanceId, maintenanceHash, entry } = line;
    const faults: string[] = [];
    if (entry.maintenanceId !== maintenanceId) faults.push('is listed under the id of another entry');
    if (entry.assetId !== asset.assetId || entry.workspaceId !== workspaceId)
      faults.push('belongs to another asset');
    if (!hasDigest(line.salt, entry, maintenanceHash)) faults.push('does not match its hash: it was changed');
    const misshapen = entryShapeFault(entry);
    if (misshapen !== null) faults.push(misshapen);
    const place = { performedAt: utcTime(entry.performedAt), maintenanceId };
    if (isBefore(place, last)) faults.push('is out of order: entries are sorted by the time of the work');
    last = place;
    if (!attachmentsFit(line)) faults.push('is listed with attachments other than its own');
    const together = signoffsFault(
      entry,
      line.signoffs.map(({ document }) => document),
    );
    if (together !== null) faults.push(`has sign-offs that break a rule: ${together}`);
    return faults;
  }

  async function checkEntry(line: EntryLine): Promise<void> {
    const { maintenanceId, maintenanceHash, entry, supersededBy } = line;
    if (seen.has(maintenanceId)) return findings.fault(maintenanceId, 'occurs twice');
    seen.add(maintenanceId);
    const faults = entryFaults(line);
    const isProven = await checkProof(maintenanceId, line, {
      ...{ kind: 'maintenance', id: maintenanceId, version: 1, digest: maintenanceHash, document: entry },
      stated: { verb: 'recorded', at: entry.recordedAt },
    });
    const recordedAt = utcTime(entry.recordedAt);
    const vault = isProven ? (line.proof?.leaf.values[6] ?? null) : null;
    ordered.push({ number: line.number, recordedAt, vault });
    const misplaced = chain.add(line, { workspaceId, isProven });
    isMisplaced ||= misplaced.length > 0;
    faults.push(...misplaced);
    for (const fault of faults) findings.fault(maintenanceId, fault);
    const holds = faults.length === 0 && isProven;
    if (holds || (faults.length === 0 && isPending(line))) findings.count('entries');
    counted.entries += 1;
    if (line.proof) counted.provenEntries += 1;
    if (line.signoffs.some(({ document }) => document.role === 'certified')) counted.certified += 1;
    usage.add(maintenanceId, entry, holds);
    performers.add(line);
    if (holds) proven.entries += 1;
    if ((await checkSignoffs(line)).includes('certified') && holds) certified.add(maintenanceId);
    if (entry.supersedes !== null) {
      if (corrections.has(entry.supersedes)) findings.fault(entry.supersedes, 'is corrected twice');
      corrections.set(entry.supersedes, maintenanceId);
    }
    if (supersededBy !== null) superseded.set(maintenanceId, supersededBy);
  }

  /** Returns the roles in which it was signed, as far as they are valid and proven. */
  async function checkSignoffs(line: EntryLine): Promise<string[]> {
    const roles: string[] = [];
    for (const [place, signoff] of line.signoffs.entries()) {
      counted.signoffs += 1;
      if (signoff.proof) counted.provenSignoffs += 1;
      if (signoff.number !== place + 1) findings.fault(line.maintenanceId, 'lacks a sign-off');
      if (await checkSignoff(line, signoff)) roles.push(signoff.document.role);
    }
    proven.signoffs += roles.length;
    return roles;
  }

  return {
    async entry(line) {
      try {
        await checkEntry(line);
      } catch (error) {
        findings.fault(String(line.maintenanceId), `is not an entry: ${(error as Error).message}`);
      }
    },
    end() {
      const broken = chain.faults();
      for (const { place, message } of [...broken, ...performers.faults()]) findings.fault(place, message);
      for (const gap of orderGaps(ordered, owned)) findings.gap(gap);
      for (const [corrected, by] of corrections) {
        if (!seen.has(corrected)) findings.fault(by, `corrects ${corrected}, which is missing`);
        if (superseded.get(corrected) !== by)
          findings.fault(corrected, `does not say that ${by} corrects it`);
      }
      for (const [corrected, by] of superseded) {
        if (corrections.get(corrected) !== by)
          findings.fault(corrected, `is marked as corrected by ${by}, which does not correct it`);
      }
      for (const [name, what] of countedThings) {
        if (counted[name] !== counts[name]) {
          findings.fault(what, `number ${counted[name]}, but dossier.json counts ${counts[name]}`);
        }
      }
      const most = usage.most(statedUsage);
      for (const counter of ['hours', 'cycles'] as const) {
        if (asset.usage[counter] === most[counter]) continue;
        findings.fault(
          'The usage',
          `is ${most[counter]} ${counter}, but dossier.json says ${asset.usage[counter]}`,
        );
      }
      return {
        counts: counted,
        isChain: broken.length === 0 && !isMisplaced,
        proven: {
          ...{ ...proven, usage: usage.mostProven() },
          ...judgeCertifications(certified, corrections, superseded),
        },
      };
    },
  };
}

const countedThings = [
  ['versions', 'The versions of the asset'],
  ['entries', 'The entries'],
  ['provenEntries', 'The entries with a proof'],
  ['signoffs', 'The sign-offs'],
  ['provenSignoffs', 'The sign-offs with a proof'],
  ['certified', 'The certified entries'],
] as const;

const longBefore =
  'When entries were recorded and signed: the time that they state is more than 24 hours before the first trusted clock that vouches for them.';
const sealedLater =
  'That the owner sealed all entries and sign-offs: the first trusted clock that vouches for them is more than 24 hours away from the time in which their vault owned the asset.';

/** In the order of the work; entries of one time are in the order of their ids. */
function isBefore(
  one: { performedAt: number; maintenanceId: string },
  other: { performedAt: number; maintenanceId: string },
): boolean {
  if (one.performedAt !== other.performedAt) return one.performedAt < other.performedAt;
  return one.maintenanceId < other.maintenanceId;
}

function isSameJson(one: unknown, other: unknown): boolean {
  return canonicalJsonOrNull(one) === canonicalJsonOrNull(other);
}

/** Whether it had no proof yet when the dossier was created. */
function isPending({ proof, unprovable }: Pick<EntryLine, 'proof' | 'unprovable'>): boolean {
  return proof === null && !unprovable;
}

function isAnchor(proven: Proof['anchors'][number], stated: EntryLine['anchor']): boolean {
  const { chainId, transactionHash, blockNumber, blockTime } = proven as Partial<EvmAnchor>;
  return (
    stated !== null &&
    stated.chainId === chainId &&
    stated.transactionHash === transactionHash &&
    stated.blockNumber === blockNumber &&
    utcTime(stated.anchoredAt) === Number(blockTime) * 1000
  );
}

function attachmentsFit({ entry, attachments }: EntryLine): boolean {
  return (
    attachments.length === entry.files.length &&
    entry.files.every((file, place) =>
      (['fileId', 'version', 'name', 'contentHash', 'canonicalization'] as const).every(
        (name) => attachments[place]?.[name] === file[name],
      ),
    )
  );
}
