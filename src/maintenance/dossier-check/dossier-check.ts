/**
 * Checks a dossier with nothing but the dossier: documents have the hashes that were signed and anchored, proofs and signatures
 * hold, entries follow each other without a gap, and everything belongs together. What a proof can say is taken from the
 * proof, never from dossier.json. Pure, and safe in browsers; reads line by line, so that the number of entries does not
 * matter.
 */

import { utf8Text } from '../../proof/utf8.ts';
import { parseJsonText } from '../../runtime/json-text.ts';
import { type AttachmentCheck, createAttachmentCheck } from './dossier-attachments.ts';
import type { Withdrawn } from './dossier-certifications.ts';
import { type CheckedAsset, checkAsset, installationsOf, usageOf } from './dossier-check-asset.ts';
import { type CheckedEntries, createEntryCheck } from './dossier-check-entries.ts';
import { type CheckedPasskeys, checkPasskeys } from './dossier-check-passkeys.ts';
import { type CheckedSeal, checkSeal, type SealState } from './dossier-check-seal.ts';
import { bytesOf, type DossierFiles, hashOf, linesOf, parseLine } from './dossier-files.ts';
import { createFindings, type Findings, type FindingsLog } from './dossier-findings.ts';
import {
  type Dossier,
  type DossierCounts,
  dossierPaths,
  type EntryLine,
  entriesPath,
} from './dossier-format.ts';
import { requireDossier } from './dossier-shape.ts';
import type { DossierVerifyOptions } from './dossier-verify-options.ts';

export interface CheckOptions extends DossierVerifyOptions {
  /** The proof of dossier.json, if the dossier itself does not have it. */
  seal?: string | undefined;
  /** Bytes done and bytes in all. */
  onProgress?(done: number, all: number): void;
  /** Called often: lets a page update itself, and throws to cancel. */
  pause?(): Promise<void>;
}

export interface DossierVerdict extends Findings {
  dossier: Dossier | null;
  /** Counted over all entries, whatever dossier.json says; null when there is no dossier.json. */
  recounted: DossierCounts | null;
  /** What the proofs say; null when there is no dossier.json. */
  facts: DossierFacts | null;
  seal: SealState;
  /** When the dossier was sealed, at the latest, and who vouches for that; null if no trusted clock does. */
  sealed: CheckedSeal['sealed'];
  /** Whether a trusted clock vouches for the time of every proof; if not, whether it is development evidence. */
  times: 'proven' | 'development' | 'unproven';
  verdict: 'pass' | 'fail' | 'incomplete';
}

export interface DossierFacts {
  /** From the newest proven version; null when none is proven. */
  asset: { version: number; name: string; serialNumber: string; partNumber: string } | null;
  /** From the first to the current one, in lower case; empty when nothing proves them. */
  owners: string[];
  installations: number;
  /** With a proof that holds. */
  entries: number;
  signoffs: number;
  /** Entries with a valid, proven sign-off as certified that no other entry corrects. */
  certified: number;
  /** Those that another entry corrects: their certification is no longer in force. */
  withdrawn: Withdrawn[];
  usage: { hours: number; cycles: number };
  /** Whether all entries are numbered from 1 without a gap, and each follows the one before. */
  isChain: boolean;
}

interface Run {
  files: DossierFiles;
  findings: FindingsLog;
  dossier: Dossier;
  options: DossierVerifyOptions;
  read(bytes: number): Promise<void>;
}

export async function checkDossier(
  files: DossierFiles,
  { seal: givenSeal, onProgress, pause, ...options }: CheckOptions,
): Promise<DossierVerdict> {
  const findings = createFindings();
  const found = await readSummary(files, findings);
  if (found === null) {
    const nothing = { dossier: null, recounted: null, facts: null } as const;
    return { ...nothing, ...findings, seal: 'missing', sealed: null, times: 'unproven', verdict: 'fail' };
  }
  const { dossier, bytes } = found;
  const all = dossier.contents.reduce((sum, file) => sum + file.bytes, 0);
  let done = 0;
  const run: Run = {
    files,
    findings,
    dossier,
    options,
    async read(bytes) {
      done += bytes;
      onProgress?.(Math.min(done, all), all);
      await pause?.().catch((error) => {
        throw new Cancelled(error);
      });
    },
  };
  await checkFiles(run);
  const asset = await checkAsset(run);
  const proof = await readSeal(run, givenSeal);
  const { state: seal, sealed } = await checkSeal({ ...run, ...asset, summary: bytes, proof });
  const passkeys = await checkPasskeys(run);
  const attachments = createAttachmentCheck(run);
  const entries = await checkEntries(run, { ...asset, sealed, passkeys, attachments });
  await attachments.end(unreadable);
  const times = checkTimes(run);
  judgeCompleteness(run, { asset, entries, seal });
  const verdict = findings.faultCount > 0 ? 'fail' : findings.gaps.size > 0 ? 'incomplete' : 'pass';
  const facts = factsOf(asset, entries);
  return { dossier, ...findings, recounted: entries.counts, facts, seal, sealed, times, verdict };
}

async function readSummary(
  files: DossierFiles,
  findings: FindingsLog,
): Promise<{ dossier: Dossier; bytes: Uint8Array } | null> {
  const content = files.open(dossierPaths.summary);
  if (content === null) {
    findings.fault(dossierPaths.summary, 'is missing: this is not a dossier, or it is incomplete');
    return null;
  }
  try {
    const bytes = await bytesOf(content);
    return { dossier: requireDossier(parseJsonText(utf8Text(bytes))), bytes };
  } catch (error) {
    findings.fault(dossierPaths.summary, `cannot be used: ${(error as Error).message}`);
    return null;
  }
}

/** One that is given explicitly takes precedence: it may be newer. */
async function readSeal({ files, findings }: Run, given: string | undefined): Promise<string | null> {
  const content = files.open(dossierPaths.seal);
  if (given !== undefined || content === null) return given ?? null;
  try {
    return utf8Text(await bytesOf(content));
  } catch (error) {
    findings.fault(dossierPaths.seal, unreadable(error));
    return null;
  }
}

/** Checks size and hash of every listed file, and that there are no others. */
async function checkFiles({ files, findings, dossier, read }: Run): Promise<void> {
  const listed = new Set<string>([dossierPaths.summary, dossierPaths.seal]);
  for (const { path, bytes, sha256 } of dossier.contents) {
    if (listed.has(path)) findings.fault(path, 'is listed twice');
    listed.add(path);
    const content = files.open(path);
    if (content === null) {
      findings.fault(path, 'is missing');
      continue;
    }
    try {
      const hashed = await hashOf(content, (size) => read(size / 2));
      if (hashed.size === bytes && hashed.sha256 === sha256) findings.count('files');
      else findings.fault(path, 'has changed since it was written');
    } catch (error) {
      findings.fault(path, unreadable(error));
    }
  }
  for (const name of files.names()) {
    if (!listed.has(name) && !name.endsWith('/')) findings.fault(name, 'is not part of the dossier');
  }
}

/** Returns what the entries show. */
async function checkEntries(
  run: Run,
  {
    attachments,
    ...shown
  }: CheckedAsset & Pick<CheckedSeal, 'sealed'> & { passkeys: CheckedPasskeys; attachments: AttachmentCheck },
): Promise<CheckedEntries> {
  const { files, findings, dossier, options, read } = run;
  const check = createEntryCheck({ dossier, ...shown, findings, options });
  const parts = dossier.contents.filter(({ path }) => path.startsWith(dossierPaths.entries));
  for (const [place, { path, bytes }] of parts.entries()) {
    if (path !== entriesPath(place + 1)) findings.fault(path, `is where ${entriesPath(place + 1)} should be`);
    let seen = 0;
    try {
      for await (const line of linesOf(files.open(path))) {
        const entry = parseLine<EntryLine>(line, (message) => findings.fault(path, message));
        if (entry) {
          await check.entry(entry);
          attachments.add(entry);
        }
        seen += line.length;
        await read(line.length / 2);
      }
    } catch (error) {
      findings.fault(path, unreadable(error));
    }
    await read(Math.max(0, (bytes - seen) / 2));
  }
  return check.end();
}

/**
 * Judged by the clocks of the proofs. The label in dossier.json may say less of the times than the proofs do, but not more.
 * It does not cover the seal, which is made later.
 */
function checkTimes({ findings, dossier }: Run): DossierVerdict['times'] {
  const { checked, timed, operatorOnly } = findings.proofs;
  if (checked > 0 && timed === checked) return 'proven';
  if (operatorOnly > 0 && !dossier.developmentEvidence) {
    findings.fault(
      'The evidence',
      'is from a development chain, and no other clock vouches for all of it, but dossier.json says that it is not',
    );
  }
  return operatorOnly > 0 || dossier.developmentEvidence ? 'development' : 'unproven';
}

/** What only the seal shows, and what nothing shows without the history of the asset. */
function judgeCompleteness(
  { findings, dossier }: Run,
  { asset, entries, seal }: { asset: CheckedAsset; entries: CheckedEntries; seal: SealState },
): void {
  if (!asset.isProven && entries.proven.entries > 0) {
    findings.fault(
      dossierPaths.history,
      'does not prove the asset, although its entries are anchored: without it, nothing shows who owned the asset',
    );
  } else if (!asset.isProven) {
    findings.gap('The asset is not anchored yet, so nothing proves what it is and who owned it.');
  }
  if (seal === 'valid') return;
  findings.gap(
    unownedSeals.get(seal) ??
      `That nothing was left out at the end, the newest entries or the last sign-offs of an entry: the proof of dossier.json, ${dossier.dossierId}, is not given.`,
  );
  const isPrinted = ({ path }: Dossier['contents'][number]) =>
    path.endsWith('.pdf') && !path.startsWith(dossierPaths.attachments);
  if (dossier.contents.some(isPrinted)) {
    findings.gap(
      'The logbook and the release certificates: without the proof of dossier.json, nothing covers these PDF files.',
    );
  }
}

const unownedSeals = new Map<SealState, string>([
  [
    'unowned',
    'That nothing was left out at the end: dossier.json is sealed, but nothing proves that the owner of the asset sealed it.',
  ],
  [
    'former',
    'That nothing was left out at the end: dossier.json is sealed by a vault that has given the asset away, and no trusted clock shows that it was sealed before.',
  ],
]);

function factsOf({ owned, isProven, proven }: CheckedAsset, entries: CheckedEntries): DossierFacts {
  const version = [...proven.keys()].reduce((newest, one) => Math.max(newest, one), 0);
  const document = proven.get(version)?.document;
  const stated = usageOf(proven.get(version));
  const { usage, ...counts } = entries.proven;
  return {
    asset: document
      ? {
          version,
          name: String(document.name),
          serialNumber: String(document.serialNumber),
          partNumber: String(document.partNumber),
        }
      : null,
    owners: isProven ? owned.map(({ vault }) => vault) : [],
    installations: installationsOf(proven).length,
    ...counts,
    isChain: entries.isChain,
    usage: {
      hours: Math.max(stated.hours, usage.hours),
      cycles: Math.max(stated.cycles, usage.cycles),
    },
  };
}

/** What was thrown to cancel the check, as opposed to a file that cannot be read. */
class Cancelled extends Error {
  constructor(cause: unknown) {
    super('the check was cancelled', { cause });
  }
}

function unreadable(error: unknown): string {
  if (error instanceof Cancelled) throw error.cause;
  return `cannot be read: ${(error as Error).message}`;
}
