/**
 * Checks a dossier with nothing but the dossier: every listed file is there and unchanged, documents have the hashes that
 * were signed and anchored, proofs and signatures hold, and everything belongs together. Pure, and safe in browsers; reads
 * line by line, so that the number of entries does not matter.
 */
import { createSHA256 } from 'hash-wasm';
import { isDevelopmentChain } from '../../chain/rules/development-chain.ts';
import type { ChainReader, Registry } from '../../proof/chain-reader.ts';
import { contentDigest, recordDigest } from '../../proof/content.ts';
import { fromHex } from '../../proof/hex.ts';
import { type History, verifyHistory } from '../../proof/history.ts';
import type { Proof } from '../../proof/proof.ts';
import type { Verification } from '../../proof/steps.ts';
import { parseJsonText } from '../../runtime/json-text.ts';
import {
  anchorTimes,
  assetFaults,
  type Ownership,
  ownershipsOf,
  sinceFaults,
  statedUsageOf,
  type TimedProof,
} from './dossier-check-asset.ts';
import { createEntryCheck } from './dossier-check-entries.ts';
import { createFindings, type Findings } from './dossier-findings.ts';
import {
  type Dossier,
  type DossierAttachment,
  type DossierCounts,
  dossierFormat,
  dossierPaths,
  type EntryLine,
  entriesPath,
  type VersionLine,
} from './dossier-format.ts';

/** A ZIP archive, or the folder it was unpacked to. */
export interface DossierFiles {
  names(): string[];
  /** Null when the file does not exist. */
  open(path: string): AsyncIterable<Uint8Array> | null;
}

export interface CheckOptions {
  chain?: ChainReader | undefined;
  registry: Registry;
  /** Bytes done and bytes in all. */
  onProgress?(done: number, all: number): void;
  /** Called often: lets a page update itself, and throws to cancel. */
  pause?(): Promise<void>;
}

export interface DossierVerdict extends Findings {
  dossier: Dossier | null;
  /** Counted from the entries, whatever dossier.json says; null when there is no dossier.json. */
  recounted: DossierCounts | null;
  /** Whether a proof is on a chain whose operator can set its clock. */
  developmentEvidence: boolean;
  verdict: 'pass' | 'fail' | 'incomplete';
}

export async function checkDossier(files: DossierFiles, options: CheckOptions): Promise<DossierVerdict> {
  const findings = createFindings();
  const dossier = await readSummary(files, findings);
  if (dossier === null) {
    return { dossier, ...findings, recounted: null, developmentEvidence: false, verdict: 'fail' };
  }
  const all = dossier.contents.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  const run: Run = {
    files,
    findings,
    dossier,
    options,
    async read(bytes) {
      done += bytes;
      options.onProgress?.(Math.min(done, all), all);
      await options.pause?.();
    },
  };
  await checkFiles(run);
  const asset = await checkAsset(run);
  const { attachments, recounted } = await checkEntries(run, asset);
  await checkAttachments(run, attachments);
  const developmentEvidence = checkEvidence(run);
  findings.gap(
    'That nothing was left out: each entry and sign-off has its own proof, but no proof says how many there are.',
  );
  const failed = findings.faultCount > 0;
  const verdict = failed ? 'fail' : findings.gaps.size > 0 ? 'incomplete' : 'pass';
  return { dossier, ...findings, recounted, developmentEvidence, verdict };
}

/** Judged by the chains of the proofs, not by dossier.json. */
function checkEvidence({ findings, dossier }: Run): boolean {
  const isDevelopment = [...findings.chainIds].some((chainId) =>
    // Only the id is known here; when a chain node is asked, the verifier of each proof examines it.
    isDevelopmentChain({ chainId, clientVersion: 'not asked' }),
  );
  if (isDevelopment && dossier.developmentEvidence !== true) {
    findings.fault('The evidence', 'is from a development chain, but dossier.json says that it is not');
  }
  return isDevelopment || dossier.developmentEvidence;
}

interface Run {
  files: DossierFiles;
  findings: ReturnType<typeof createFindings>;
  dossier: Dossier;
  options: CheckOptions;
  read(bytes: number): Promise<void>;
}

async function readSummary(files: DossierFiles, findings: Run['findings']): Promise<Dossier | null> {
  const bytes = files.open(dossierPaths.summary);
  if (bytes === null) {
    findings.fault(dossierPaths.summary, 'is missing: this is not a dossier, or it is incomplete');
    return null;
  }
  try {
    const dossier = parseJsonText(await textOf(bytes)) as Dossier;
    if (dossier.format !== dossierFormat) throw new Error(`its format is not ${dossierFormat}`);
    if (!Array.isArray(dossier.contents) || typeof dossier.asset?.assetId !== 'string') {
      throw new Error('it lacks the asset or the list of files');
    }
    return dossier;
  } catch (error) {
    findings.fault(dossierPaths.summary, `cannot be used: ${(error as Error).message}`);
    return null;
  }
}

/** Checks size and hash of every listed file, and that there are no others. */
async function checkFiles({ files, findings, dossier, read }: Run): Promise<void> {
  const listed = new Set<string>([dossierPaths.summary]);
  for (const { path, bytes, sha256 } of dossier.contents) {
    listed.add(path);
    const content = files.open(path);
    if (content === null) {
      findings.fault(path, 'is missing');
      continue;
    }
    const hash = await createSHA256();
    let size = 0;
    try {
      for await (const piece of content) {
        hash.update(piece);
        size += piece.length;
        await read(piece.length / 2);
      }
    } catch (error) {
      findings.fault(path, `cannot be read: ${(error as Error).message}`);
      continue;
    }
    if (size !== bytes || hash.digest('hex') !== sha256)
      findings.fault(path, 'has changed since it was written');
    else findings.count('files');
    if (path.endsWith('.pdf') && !path.startsWith(dossierPaths.attachments)) {
      findings.gap(
        'The logbook and the release certificates were not checked: no proof covers these PDF files.',
      );
    }
  }
  for (const name of files.names()) {
    if (!listed.has(name) && !name.endsWith('/')) findings.fault(name, 'is not part of the dossier');
  }
}

interface CheckedAsset {
  owned: Ownership[];
  /** Stated with the asset itself; entries may state more. */
  statedUsage: { hours: number; cycles: number };
  /** Number of versions in the dossier. */
  versionCount: number;
}

/** Checks versions and transfers. Returns who owned the asset when. */
async function checkAsset({ files, findings, dossier, options }: Run): Promise<CheckedAsset> {
  const { asset, workspaceId } = dossier;
  const versions = new Map<number, VersionLine>();
  for await (const line of linesOf(files.open(dossierPaths.versions))) {
    const version = parseLine<VersionLine>(line, dossierPaths.versions, findings);
    if (version === null) continue;
    const name = `Version ${version.version} of the asset`;
    if (versions.has(version.version)) findings.fault(name, 'occurs twice');
    versions.set(version.version, version);
    if (version.document.assetId !== asset.assetId) findings.fault(name, 'belongs to another asset');
    if (digestOf(version.salt, version.document) !== version.digest)
      findings.fault(name, 'does not match its hash');
  }
  for (const fault of assetFaults(dossier, versions)) findings.fault('The asset', fault);
  const statedUsage = statedUsageOf(versions.get(asset.version));
  const owned: Ownership[] = dossier.owners.map(({ vault }) => ({
    vault: vault.address.toLowerCase(),
    ...{ from: -Infinity, until: Infinity, since: [] },
  }));
  const versionCount = versions.size;
  const text = files.open(dossierPaths.history);
  if (text === null) {
    findings.gap('The asset is not anchored yet, so nothing proves who owned it.');
    return { owned, statedUsage, versionCount };
  }
  const document = await textOf(text);
  const { proofs, chain, verdict } = await verifyHistory(document, {
    chain: options.chain,
    registry: options.registry,
    contents: contentsOf(document, versions),
  });
  if (chain.status === 'fail') findings.fault(dossierPaths.history, chain.message);
  for (const [place, { steps }] of proofs.entries()) {
    findings.steps(`Proof ${place + 1} of the asset`, steps);
  }
  if (verdict === 'fail') return { owned, statedUsage, versionCount };
  const { subject, proofs: proven } = JSON.parse(document) as History;
  if (subject.workspaceId !== workspaceId || subject.id !== asset.assetId) {
    findings.fault(dossierPaths.history, 'belongs to another asset');
  }
  findings.count('versions', proofs.length);
  // From the proofs, not from dossier.json.
  for (const proof of proven) findings.chainsOf(proof);
  const ownerships = ownershipsOf(await timed(proven, proofs, options.chain));
  for (const fault of sinceFaults(dossier.owners, ownerships)) findings.fault('The owners', fault);
  const provenOwners = ownerships.map(({ vault }) => vault);
  const stated = dossier.owners.map(({ vault }) => vault.address.toLowerCase());
  if (stated.join() !== provenOwners.slice(0, stated.length).join() || stated.length > provenOwners.length) {
    findings.fault('The owners', 'in dossier.json differ from those in the proofs');
  }
  if (stated.length < provenOwners.length) {
    findings.gap(
      `The proofs name a later owner, ${provenOwners.at(-1)}, who is missing from dossier.json: the asset was transferred while the dossier was created, or someone left out the new owner.`,
    );
  }
  if (stated.at(-1) !== dossier.owner.address.toLowerCase()) {
    findings.fault('The owner', 'in dossier.json is not the last of its owners');
  }
  const versionsProven = proven.filter(({ kind }) => kind !== 'transfer').length;
  if (versionsProven < versions.size) {
    findings.gap('The newest versions of the asset were not anchored yet.');
  }
  return { owned: ownerships, statedUsage, versionCount };
}

/** If the chain has confirmed anchors of a proof, its other anchors do not count: nobody has checked them. */
async function timed(
  proofs: Proof[],
  verified: Verification[],
  chain: ChainReader | undefined,
): Promise<TimedProof[]> {
  const isChecked = ({ steps }: Verification) =>
    steps.some(({ name, status }) => name === 'chain' && status === 'pass');
  const asked = chain && verified.some(isChecked) ? await chain.chainId() : null;
  return proofs.map((proof, place) => {
    const found = verified[place];
    return { proof, times: anchorTimes(proof, found && isChecked(found) ? asked : null) };
  });
}

/** The document behind each proof; a transfer names the version that it transfers. */
function contentsOf(document: string, versions: Map<number, VersionLine>): (Uint8Array | undefined)[] {
  try {
    const { proofs } = JSON.parse(document) as History;
    return proofs.map(({ kind, leaf, claims }) => {
      const version = versions.get(Number(kind === 'transfer' ? claims?.assetVersion : leaf.values[4]));
      return version && new TextEncoder().encode(JSON.stringify(version.document));
    });
  } catch {
    // The verifier reports what is wrong with it.
    return [];
  }
}

/** Returns the attachments whose bytes are in the dossier, and the counts over all entries. */
async function checkEntries(
  run: Run,
  asset: CheckedAsset,
): Promise<{ attachments: Map<string, DossierAttachment>; recounted: DossierCounts }> {
  const { files, findings, dossier, options, read } = run;
  const check = createEntryCheck({ dossier, ...asset, findings, options });
  const attachments = new Map<string, DossierAttachment>();
  const parts = dossier.contents.filter(({ path }) => path.startsWith(dossierPaths.entries));
  for (const [place, { path, bytes }] of parts.entries()) {
    if (path !== entriesPath(place + 1)) findings.fault(path, `is where ${entriesPath(place + 1)} should be`);
    let seen = 0;
    for await (const line of linesOf(files.open(path))) {
      const entry = parseLine<EntryLine>(line, path, findings);
      if (entry) {
        await check.entry(entry);
        for (const attachment of entry.attachments ?? []) {
          if (attachment.path !== null) attachments.set(attachment.path, attachment);
        }
      }
      seen += line.length;
      await read(line.length / 2);
    }
    await read(Math.max(0, (bytes - seen) / 2));
  }
  return { attachments, recounted: check.end() };
}

async function checkAttachments(
  { files, findings }: Run,
  attachments: Map<string, DossierAttachment>,
): Promise<void> {
  for (const [path, { name, contentHash, canonicalization }] of attachments) {
    const content = files.open(path);
    if (content === null) {
      findings.gap('Some attached files were erased while the dossier was written.');
    } else if (canonicalization !== 'raw') {
      findings.gap('Some attached files are hashed under a key that their owner keeps.');
    } else if ((await contentDigest({ canonicalization: 'raw', salt: null }, content)) !== contentHash) {
      findings.fault(path, `is not the file ${name} that its entry names`);
    } else {
      findings.count('attachments');
    }
  }
}

export function digestOf(salt: string, document: unknown): string | null {
  try {
    return recordDigest(fromHex(salt), document);
  } catch {
    return null;
  }
}

function parseLine<Line>(line: string, path: string, findings: Run['findings']): Line | null {
  try {
    return parseJsonText(line) as Line;
  } catch (error) {
    findings.fault(path, `has a line that is not usable JSON: ${(error as Error).message}`);
    return null;
  }
}

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  for await (const piece of bytes) text += decoder.decode(piece, { stream: true });
  return text + decoder.decode();
}

async function* linesOf(bytes: AsyncIterable<Uint8Array> | null): AsyncGenerator<string> {
  if (bytes === null) return;
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of bytes) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
