/**
 * Checks the versions and transfers of the asset: their proofs follow each other, and what dossier.json says about the asset
 * follows from them. Pure, and safe in browsers.
 */
import { utf8Text } from '../../proof/utf8.ts';
import { type History, verifyHistory } from '../../proof/verify/history.ts';
import type { Proof } from '../../proof/verify/proof.ts';
import { bytesOf, type DossierFiles, hasDigest, linesOf, parseLine } from './dossier-files.ts';
import type { FindingsLog } from './dossier-findings.ts';
import { type Dossier, dossierPaths, type VersionLine } from './dossier-format.ts';
import {
  anchorTimes,
  isAnySinceEarly,
  type Ownership,
  ownershipsOf,
  sinceFaults,
  statedOwnerships,
} from './dossier-ownership.ts';
import type { DossierVerifyOptions } from './dossier-verify-options.ts';

export interface CheckedAsset {
  /** Who owned it when: by the proofs, or as stated while there are none. */
  owned: Ownership[];
  /** Whether there are proofs, and they hold. */
  isProven: boolean;
  /** Stated with the asset itself, in its newest version; entries may state more. */
  statedUsage: { hours: number; cycles: number };
  /** Those in the dossier, and those of them that are proven. */
  versions: Map<number, VersionLine>;
  proven: Map<number, VersionLine>;
}

export interface AssetCheckDeps {
  files: DossierFiles;
  findings: FindingsLog;
  dossier: Dossier;
  options: DossierVerifyOptions;
}

export async function checkAsset(deps: AssetCheckDeps): Promise<CheckedAsset> {
  const { files, findings, dossier } = deps;
  const versions = await readVersions(deps);
  for (const fault of assetFaults(dossier, versions)) findings.fault('The asset', fault);
  const checked: CheckedAsset = {
    owned: statedOwnerships(dossier),
    isProven: false,
    statedUsage: usageOf(versions.get(dossier.asset.version)),
    versions,
    proven: new Map(),
  };
  const text = files.open(dossierPaths.history);
  if (text === null) return checked;
  try {
    const proven = await checkHistory(deps, versions, utf8Text(await bytesOf(text)));
    return proven ? { ...checked, ...proven, isProven: true } : checked;
  } catch (error) {
    findings.fault(dossierPaths.history, `cannot be used: ${(error as Error).message}`);
    return checked;
  }
}

/** The usage that was stated with the asset itself. */
export function usageOf(version: VersionLine | undefined): { hours: number; cycles: number } {
  const { hours = 0, cycles = 0 } = (version?.document.usage ?? {}) as { hours?: number; cycles?: number };
  return { hours: Number(hours), cycles: Number(cycles) };
}

export interface Installed {
  parentAssetId: string;
  installedAt: string;
  removedAt: string | null;
}

/** Each version has the last installation at its time: a new one begins after the previous one was removed. */
export function installationsOf(versions: Map<number, VersionLine>): Installed[] {
  const found: Installed[] = [];
  for (const [, { document }] of [...versions].sort(([one], [other]) => one - other)) {
    const installation = document.installation as Installed | null;
    if (!installation) continue;
    const { parentAssetId, installedAt, removedAt } = installation;
    const last = found.at(-1);
    const isSame = last?.parentAssetId === parentAssetId && last.installedAt === installedAt;
    if (last && isSame && (last.removedAt === null || last.removedAt === removedAt))
      last.removedAt = removedAt;
    else found.push({ parentAssetId, installedAt, removedAt });
  }
  return found;
}

async function readVersions({ files, findings, dossier }: AssetCheckDeps): Promise<Map<number, VersionLine>> {
  const versions = new Map<number, VersionLine>();
  const path = dossierPaths.versions;
  try {
    for await (const line of linesOf(files.open(path))) {
      const version = parseLine<VersionLine>(line, (message) => findings.fault(path, message));
      if (version === null) continue;
      const name = `Version ${String(version.version)} of the asset`;
      if (typeof version.document !== 'object' || version.document === null) {
        findings.fault(name, 'has no document');
        continue;
      }
      if (versions.has(version.version)) findings.fault(name, 'occurs twice');
      versions.set(version.version, version);
      if (version.document.assetId !== dossier.asset.assetId)
        findings.fault(name, 'belongs to another asset');
      if (!hasDigest(version.salt, version.document, version.digest))
        findings.fault(name, 'does not match its hash');
    }
  } catch (error) {
    findings.fault(path, `cannot be read: ${(error as Error).message}`);
  }
  return versions;
}

/** Statements of dossier.json about the asset that its newest version contradicts. */
function assetFaults(
  { asset, installations }: Pick<Dossier, 'asset' | 'installations'>,
  versions: Map<number, VersionLine>,
): string[] {
  const faults: string[] = [];
  const known = [...versions.keys()].sort((one, other) => one - other);
  const gap = known.findIndex((version, place) => version !== place + 1);
  if (gap >= 0) faults.push(`lacks version ${gap + 1}`);
  const newest = versions.get(asset.version)?.document;
  if (!newest || versions.size !== asset.version)
    faults.push('has the wrong number of versions in dossier.json');
  if (!newest) return faults;
  for (const field of ['name', 'serialNumber', 'partNumber', 'metadata'] as const) {
    if (textOf(newest[field]) !== textOf(asset[field])) {
      faults.push(`has a different ${field} in dossier.json than in its newest version`);
    }
  }
  const proven = installationsOf(versions);
  const stated = installations.map(({ parentAssetId, installedAt, removedAt }) => ({
    parentAssetId,
    installedAt,
    removedAt,
  }));
  if (textOf(stated) !== textOf(proven)) {
    faults.push('has different installations in dossier.json than in its versions');
  }
  const last = proven.at(-1);
  if (asset.parentAssetId !== (last?.removedAt === null ? last.parentAssetId : null)) {
    faults.push('is installed somewhere else in dossier.json than in its newest version');
  }
  return faults;
}

/** Null when the proofs do not hold. */
async function checkHistory(
  { findings, dossier, options }: AssetCheckDeps,
  versions: Map<number, VersionLine>,
  document: string,
): Promise<Pick<CheckedAsset, 'owned' | 'proven'> | null> {
  const { proofs, chain, verdict } = await verifyHistory(document, {
    ...options,
    contents: contentsOf(document, versions),
  });
  if (chain.status === 'fail') findings.fault(dossierPaths.history, chain.message);
  for (const [place, { steps }] of proofs.entries()) {
    findings.steps(`Proof ${place + 1} of the asset`, steps);
  }
  if (verdict === 'fail') return null;
  const { subject, proofs: given } = JSON.parse(document) as History;
  if (subject.workspaceId !== dossier.workspaceId || subject.id !== dossier.asset.assetId) {
    findings.fault(dossierPaths.history, 'belongs to another asset');
    return null;
  }
  findings.count('versions', proofs.length);
  for (const proof of given) findings.clocksOf(proof);
  const owned = ownershipsOf(
    given.map((proof, place) => ({
      proof,
      times: anchorTimes(proof, proofs[place]?.steps),
      vouched: proofs[place]?.vouchers[0] ?? null,
    })),
  );
  checkOwners({ findings, dossier }, owned);
  return { owned, proven: provenVersions(findings, given, versions) };
}

/** The versions of the asset that have a proof. */
function provenVersions(
  findings: FindingsLog,
  proofs: Proof[],
  versions: Map<number, VersionLine>,
): Map<number, VersionLine> {
  const proven = new Map<number, VersionLine>();
  for (const proof of proofs) {
    const number = versionOf(proof);
    const version = versions.get(number);
    if (!version) findings.fault('The asset', `lacks version ${number}, which its proofs name`);
    // The leaf has the digest, whether or not the proof has the salt to compute it.
    else if (version.digest !== proof.leaf.values[2]) {
      findings.fault(`Version ${number} of the asset`, 'is not what its proof is about');
    } else if (proof.kind !== 'transfer') proven.set(number, version);
  }
  if (proven.size < versions.size) {
    findings.gap(
      'The newest versions of the asset, and what they say about it: they were not anchored yet when the dossier was created.',
    );
  }
  return proven;
}

/** Compares the owners in dossier.json with those of the proofs. */
function checkOwners(
  { findings, dossier }: Pick<AssetCheckDeps, 'findings' | 'dossier'>,
  owned: Ownership[],
): void {
  for (const fault of sinceFaults(dossier.owners, owned)) findings.fault('The owners', fault);
  if (isAnySinceEarly(dossier.owners, owned)) {
    findings.gap(
      'Since when owners have the asset: a time in dossier.json is more than 24 hours before the first trusted clock that vouches for it.',
    );
  }
  const proven = owned.map(({ vault }) => vault);
  const stated = dossier.owners.map(({ vault }) => vault.address.toLowerCase());
  if (stated.join() !== proven.slice(0, stated.length).join() || stated.length > proven.length) {
    findings.fault('The owners', 'in dossier.json differ from those in the proofs');
  }
  if (stated.length < proven.length) {
    findings.gap(
      `The proofs name a later owner, ${proven.at(-1)}, who is missing from dossier.json: the asset was transferred while the dossier was created, or someone left out the new owner.`,
    );
  }
  if (stated.at(-1) !== dossier.owner.address.toLowerCase()) {
    findings.fault('The owner', 'in dossier.json is not the last of its owners');
  }
}

/** The version of the asset that a proof is about; a transfer names the one that it transfers. */
function versionOf({ kind, leaf, claims }: Proof): number {
  return Number(kind === 'transfer' ? claims?.assetVersion : leaf.values[4]);
}

/** The document behind each proof. */
function contentsOf(document: string, versions: Map<number, VersionLine>): (Uint8Array | undefined)[] {
  try {
    const { proofs } = JSON.parse(document) as History;
    return proofs.map((proof) => {
      const version = versions.get(versionOf(proof));
      return version && new TextEncoder().encode(JSON.stringify(version.document));
    });
  } catch {
    // The verifier reports what is wrong with it.
    return [];
  }
}

/** One text for equal JSON, whatever the order of its members. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}
