/** Who owned the asset when, as the proofs of its versions and transfers show it. Pure, and safe in browsers. */
import { isEvmAnchor, type Proof } from '../../proof/verify/proof.ts';
import type { Step } from '../../proof/verify/steps.ts';
import type { Dossier } from './dossier-format.ts';

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
interface TimedProof {
  proof: Proof;
  times: number[];
}

/** In milliseconds since 1970. If anchors were found on a chain, only those: nobody has checked the others. */
export function anchorTimes(
  { anchors }: Pick<Proof, 'anchors'>,
  steps: readonly Pick<Step, 'name' | 'status' | 'anchor' | 'renewal'>[] = [],
): number[] {
  const found = steps.filter(
    ({ name, status, renewal }) => name === 'chain' && status === 'pass' && renewal === undefined,
  );
  return anchors
    .filter((_, place) => found.length === 0 || found.some(({ anchor }) => anchor === place))
    .filter(isEvmAnchor)
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
    owned.push({ vault: String(proof.claims?.to).toLowerCase(), from, until: Infinity, since: times });
  }
  return owned;
}

/** As dossier.json states it, while nothing proves it. */
export function statedOwnerships({ owners }: Pick<Dossier, 'owners'>): Ownership[] {
  return owners.map(({ vault }) => ({
    vault: vault.address.toLowerCase(),
    ...{ from: -Infinity, until: Infinity, since: [] },
  }));
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
