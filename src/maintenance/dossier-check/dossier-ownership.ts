/**
 * Who owned the asset when, as the proofs of its versions and transfers show it. A time counts that a trusted clock vouches
 * for. What an anchor states without one is used only to find statements that contradict each other. Pure, and safe in
 * browsers.
 */
import { utcTime } from '../../proof/utc-time.ts';
import { isEvmAnchor, type Proof } from '../../proof/verify/proof.ts';
import { isoTime, type Step } from '../../proof/verify/steps.ts';
import type { Dossier } from './dossier-format.ts';
import { clocksMs, isLongBefore, type Vouched, vouchingMs } from './dossier-times.ts';

/** A period in which a vault owned the asset. */
export interface Ownership {
  /** In lower case. */
  vault: string;
  /** When the vault had got it and had given it away, at the latest; null if nobody vouches for that. */
  got: Vouched | null;
  gave: Vouched | null;
  /** Between which times the vault can have sealed something, as far as anybody says; in milliseconds since 1970. */
  from: number;
  until: number;
  /** When the vault got it, as anchors state it; empty when nothing proves it. */
  since: number[];
}

/** A proof of a version or transfer, the times that its anchors state, and the one that is vouched for. */
interface TimedProof {
  proof: Proof;
  times: number[];
  vouched: Vouched | null;
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
      ...{ got: first?.vouched ?? null, gave: null, from: -Infinity, until: Infinity },
      since: first?.times ?? [],
    },
  ];
  for (const { proof, times, vouched } of proofs) {
    if (proof.kind !== 'transfer') continue;
    const known = [...times, ...(vouched ? [vouched.time] : [])];
    const before = owned.at(-1);
    if (before) {
      before.gave = vouched;
      // An anchor that nobody has checked must not let the giver own it for longer.
      if (known.length > 0) before.until = vouched?.time ?? Math.max(...times);
    }
    owned.push({
      vault: String(proof.claims?.to).toLowerCase(),
      ...{ got: vouched, gave: null, until: Infinity, since: times },
      // The transfer may have existed long before a clock vouched for it.
      from: known.length > 0 ? Math.min(...known) : -Infinity,
    });
  }
  return owned;
}

/** As dossier.json states it, while nothing proves it. */
export function statedOwnerships({ owners }: Pick<Dossier, 'owners'>): Ownership[] {
  return owners.map(({ vault }) => ({
    vault: vault.address.toLowerCase(),
    ...{ got: null, gave: null, from: -Infinity, until: Infinity, since: [] },
  }));
}

/** Times of owners in dossier.json that the proofs contradict. */
export function sinceFaults(owners: Dossier['owners'], owned: Ownership[]): string[] {
  return owners.flatMap(({ vault, since }, place) => {
    const proven = owned[place]?.since ?? [];
    if (proven.length === 0 || proven.includes(utcTime(since))) return [];
    const times = proven.map((time) => new Date(time).toISOString()).join(' or ');
    return [`in dossier.json include ${vault.address} since ${since}, but the proofs say since ${times}`];
  });
}

/** Whether an owner is said to have it since long before a trusted clock vouches for that. */
export function isAnySinceEarly(owners: Dossier['owners'], owned: Ownership[]): boolean {
  return owners.some(({ since }, place) => isLongBefore(since, owned[place]?.got ?? null));
}

/** Why the vault did not own the asset at a time that is only stated, or null. */
export function ownershipFault(owned: Ownership[], vault: string, at: string): string | null {
  const own = owned.filter((one) => one.vault === vault);
  if (own.length === 0) return neverOwned(vault);
  const time = utcTime(at);
  if (own.some(({ from, until }) => time >= from - clocksMs && time <= until + vouchingMs)) return null;
  return `it is sealed by ${vault}, which did not own the asset at ${at}`;
}

/** Whether trusted clocks support that the vault owned the asset when it sealed something; true if they say nothing. */
export function isOwnedThen(owned: Ownership[], vault: string, sealed: Vouched | null): boolean {
  if (sealed === null) return true;
  return owned.some(
    ({ vault: owner, got, gave }) =>
      owner === vault &&
      (got === null || sealed.time >= got.time - vouchingMs) &&
      (gave === null || sealed.time <= gave.time + vouchingMs),
  );
}

/**
 * Whether the vault owned the asset when it sealed a dossier with these proofs. They are older than the seal, which covers
 * them. So nobody but the last owner can have sealed it, unless the asset was transferred while the dossier was made; only a
 * trusted clock shows that. `unknown` if there is none; or why it did not own it.
 */
export function sealedByOwner(
  owned: Ownership[],
  { vault, sealed, madeAt }: { vault: string; sealed: Vouched | null; madeAt: string },
): 'owner' | 'unknown' | { fault: string } {
  const last = owned.findLast((one) => one.vault === vault);
  if (last === undefined) return { fault: neverOwned(vault) };
  if (last === owned.at(-1)) return 'owner';
  if (sealed !== null && last.gave !== null) {
    if (sealed.time <= last.gave.time + vouchingMs) return 'owner';
    return {
      fault: `it is sealed by ${vault}, which had given the asset away: the transfer existed on ${isoTime(last.gave.time)}, says ${last.gave.by}, and the seal is vouched for only on ${isoTime(sealed.time)}, by ${sealed.by}`,
    };
  }
  const fault = ownershipFault(owned, vault, madeAt);
  return fault === null ? 'unknown' : { fault };
}

function neverOwned(vault: string): string {
  return `it is sealed by ${vault}, which never owned the asset`;
}
