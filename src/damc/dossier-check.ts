/**
 * Checks a dossier with nothing but the dossier: that every listed file is there and unchanged, that documents have the
 * hashes that were signed and anchored, that proofs and signatures hold, and that all of it belongs together. Pure, and
 * safe in browsers; reads line by line, so that the number of entries does not matter.
 */
import { createSHA256 } from 'hash-wasm';
import type { ChainReader, Registry } from '../anchoring/chain-reader.ts';
import { contentDigest, recordDigest } from '../anchoring/content.ts';
import { fromHex } from '../anchoring/hex.ts';
import { type History, transferKind, verifyHistory } from '../anchoring/history.ts';
import { parseJsonText } from '../json-text.ts';
import { createEntryCheck } from './dossier-check-entries.ts';
import { createFindings, type Findings } from './dossier-findings.ts';
import {
  type Dossier,
  type DossierAttachment,
  dossierFormat,
  dossierPaths,
  type EntryLine,
  type VersionLine,
} from './dossier-format.ts';

/** A ZIP archive, or the folder it was unpacked to. */
export interface DossierFiles {
  names(): string[];
  /** Null when there is none. */
  open(path: string): AsyncIterable<Uint8Array> | null;
}

export interface CheckOptions {
  chain?: ChainReader | undefined;
  registry: Registry;
  /** Done and all, in bytes. */
  onProgress?(done: number, all: number): void;
  /** Called often: lets a page show something, and throws to give up. */
  pause?(): Promise<void>;
}

export interface DossierVerdict extends Findings {
  dossier: Dossier | null;
  verdict: 'pass' | 'fail' | 'incomplete';
}

export async function checkDossier(files: DossierFiles, options: CheckOptions): Promise<DossierVerdict> {
  const findings = createFindings();
  const dossier = await readSummary(files, findings);
  if (dossier === null) return { dossier, ...findings, verdict: 'fail' };
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
  const owners = await checkAsset(run);
  const attachments = await checkEntries(run, owners);
  await checkAttachments(run, attachments);
  const failed = findings.faultCount > 0;
  return { dossier, ...findings, verdict: failed ? 'fail' : findings.gaps.size > 0 ? 'incomplete' : 'pass' };
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
    findings.fault(dossierPaths.summary, 'is missing: this is not a dossier, or not all of it');
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

/** Size and hash of everything that is listed, and nothing beside it. */
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
    if (size !== bytes || hash.digest('hex') !== sha256) findings.fault(path, 'is not as it was written');
    else findings.count('files');
  }
  for (const name of files.names()) {
    if (!listed.has(name) && !name.endsWith('/')) findings.fault(name, 'is not a part of the dossier');
  }
}

/** Its versions and transfers. Gives the addresses of all who owned it. */
async function checkAsset({ files, findings, dossier, options }: Run): Promise<Set<string>> {
  const { asset, workspaceId } = dossier;
  const owners = new Set(dossier.owners.map(({ vault }) => vault.address.toLowerCase()));
  const versions = new Map<number, VersionLine>();
  for await (const line of linesOf(files.open(dossierPaths.versions))) {
    const version = parseLine<VersionLine>(line, dossierPaths.versions, findings);
    if (version === null) continue;
    const name = `Version ${version.version} of the asset`;
    versions.set(version.version, version);
    if (version.document.assetId !== asset.assetId) findings.fault(name, 'is of another asset');
    if (digestOf(version.salt, version.document) !== version.digest)
      findings.fault(name, 'does not have its hash');
  }
  const newest = versions.get(asset.version);
  for (const field of ['name', 'serialNumber', 'partNumber'] as const) {
    if (newest && newest.document[field] !== asset[field]) {
      findings.fault('The asset', `has another ${field} in dossier.json than in its newest version`);
    }
  }
  const text = files.open(dossierPaths.history);
  if (text === null) {
    findings.gap('The asset is not anchored yet, so nothing proves who owned it.');
    return owners;
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
  if (verdict === 'fail') return owners;
  const { subject, proofs: proven } = JSON.parse(document) as History;
  if (subject.workspaceId !== workspaceId || subject.id !== asset.assetId) {
    findings.fault(dossierPaths.history, 'is of another asset');
  }
  findings.count('versions', proofs.length);
  // What the proofs say, not what dossier.json says.
  const provenOwners = [proven[0]?.leaf.values[6] ?? ''];
  for (const { kind, claims } of proven) if (kind === transferKind) provenOwners.push(String(claims?.to));
  const stated = dossier.owners.map(({ vault }) => vault.address.toLowerCase());
  if (stated.join() !== provenOwners.slice(0, stated.length).join() || stated.length > provenOwners.length) {
    findings.fault('The owners', 'in dossier.json are not those that the proofs name');
  }
  if (stated.at(-1) !== dossier.owner.address.toLowerCase()) {
    findings.fault('The owner', 'in dossier.json is not the last of its owners');
  }
  const versionsProven = proven.filter(({ kind }) => kind !== transferKind).length;
  if (versionsProven < versions.size) {
    findings.gap('The newest versions of the asset were not anchored yet.');
  }
  return new Set(provenOwners);
}

/** For each proof the document that it is about; a transfer names the version that it passes on. */
function contentsOf(document: string, versions: Map<number, VersionLine>): (Uint8Array | undefined)[] {
  try {
    const { proofs } = JSON.parse(document) as History;
    return proofs.map(({ kind, leaf, claims }) => {
      const version = versions.get(Number(kind === transferKind ? claims?.assetVersion : leaf.values[4]));
      return version && new TextEncoder().encode(JSON.stringify(version.document));
    });
  } catch {
    // The verifier says what is wrong with it.
    return [];
  }
}

/** Gives the attachments whose bytes are in the dossier. */
async function checkEntries(run: Run, owners: Set<string>): Promise<Map<string, DossierAttachment>> {
  const { files, findings, dossier, options, read } = run;
  const check = createEntryCheck({ dossier, owners, findings, options });
  const attachments = new Map<string, DossierAttachment>();
  for (const { path, bytes } of dossier.contents) {
    if (!path.startsWith(dossierPaths.entries)) continue;
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
  check.end();
  return attachments;
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
