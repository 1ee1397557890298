/**
 * What the versions and transfers of an asset prove: who owned it when, where it was installed, and its stated usage.
 * dossier.json is compared with that. Pure, and safe in browsers.
 */
import { isEvmAnchor, type Proof } from '../../proof/proof.ts';
import type { Dossier, VersionLine } from './dossier-format.ts';

/** A period in which a vault owned the asset, in milliseconds since 1970. */
export interface Ownership {
  /** In lower case. */
  vault: string;
  from: number;
  until: number;
  /** When the vault is proven to have got it; empty when nothing proves it. */
  since: number[];
}

/** How far the clock of a chain may be ahead of the clock of the service. */
const clocksMs = 60 * 60 * 1000;
/** Until a transfer is confirmed, the giver owns the asset and seals its entries. */
const confirmationMs = 24 * 60 * 60 * 1000;

/** A proof of a version or transfer, and the times of its anchors that count. */
export interface TimedProof {
  proof: Proof;
  times: number[];
}

/** In milliseconds since 1970. With a chain id, only anchors on that chain: the others were not checked. */
export function anchorTimes({ anchors }: Pick<Proof, 'anchors'>, chainId: number | null): number[] {
  return anchors
    .filter(isEvmAnchor)
    .filter((anchor) => chainId === null || anchor.chainId === chainId)
    .map(({ blockTime }) => blockTime * 1000);
}

/** From the proofs of its versions and transfers, in order. */
export function ownershipsOf(proofs: TimedProof[]): Ownership[] {
  const [first] = proofs;
  const owned: Ownership[] = [
    {
      vault: first?.proof.leaf.values[6] ?? '',
      ...{ from: -Infinity, until: Infinity, since: first?.times ?? [] },
    },
  ];
  for (const { proof, times } of proofs) {
    if (proof.kind !== 'transfer') continue;
    const before = owned.at(-1);
    if (before && times.length > 0) before.until = Math.max(...times);
    const from = times.length > 0 ? Math.min(...times) : -Infinity;
    owned.push({ vault: String(proof.claims?.to), from, until: Infinity, since: times });
  }
  return owned;
}

/** Times of owners in dossier.json that the proofs contradict. */
export function sinceFaults(owners: Dossier['owners'], owned: Ownership[]): string[] {
  return owners.flatMap(({ vault, since }, place) => {
    const proven = owned[place]?.since ?? [];
    if (proven.length === 0 || proven.includes(Date.parse(since))) return [];
    const times = proven.map((time) => new Date(time).toISOString()).join(' or ');
    return [`in dossier.json include ${vault.address} since ${since}, but the proofs say since ${times}`];
  });
}

/** Why the vault did not own the asset at that time, or null. */
export function ownershipFault(owned: Ownership[], vault: string, at: string): string | null {
  const own = owned.filter((one) => one.vault === vault);
  if (own.length === 0) return `it is sealed by ${vault}, which never owned the asset`;
  const time = Date.parse(at);
  if (own.some(({ from, until }) => time >= from - clocksMs && time <= until + confirmationMs)) return null;
  return `it is sealed by ${vault}, which did not own the asset at ${at}`;
}

/** Statements of dossier.json about the asset that its newest version contradicts. */
export function assetFaults(
  { asset, installations }: Pick<Dossier, 'asset' | 'installations'>,
  versions: Map<number, VersionLine>,
): string[] {
  const faults: string[] = [];
  for (let version = 1; version <= Math.max(asset.version, versions.size); version += 1) {
    if (!versions.has(version)) faults.push(`lacks version ${version}`);
  }
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

/** The usage that was stated with the asset itself. */
export function statedUsageOf(version: VersionLine | undefined): { hours: number; cycles: number } {
  const { hours = 0, cycles = 0 } = (version?.document.usage ?? {}) as { hours?: number; cycles?: number };
  return { hours: Number(hours), cycles: Number(cycles) };
}

interface Installed {
  parentAssetId: string;
  installedAt: string;
  removedAt: string | null;
}

/** Each version has the last installation at its time: a new one begins after the previous one was removed. */
function installationsOf(versions: Map<number, VersionLine>): Installed[] {
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

/** One text for equal JSON, whatever the order of its members. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}
