/**
 * The chain of an asset's entries, as their leaves claim it: numbers from 1 without a gap, each entry naming the leaf of the one
 * before. It shows whether an entry was removed, replaced or given another place, except at the end of the chain.
 */
import type { Hex } from 'viem';
import { toHex, zeroHash } from '../../proof/hex.ts';
import { claimsHash, leafHash, leafValues } from '../../proof/leaf.ts';
import type { Claims } from '../../proof/verify/proof.ts';
import type { EntryLine } from './dossier-format.ts';

export interface EntryChain {
  /** `isProven`: its proof holds; otherwise the leaf is recomputed from what the line states. Returns what is wrong. */
  add(line: EntryLine, context: { workspaceId: string; isProven: boolean }): string[];
  /** After the last entry: what is wrong with the chain as a whole. */
  faults(): { place: string; message: string }[];
}

interface Link {
  maintenanceId: string;
  number: number;
  /** Null when neither a proof nor the parts of the leaf lead to it. */
  leaf: Hex | null;
  previousEntry: Hex | null;
}

export function createEntryChain(): EntryChain {
  const links = new Map<number, Link>();
  return {
    add(line, context) {
      const { maintenanceId, number } = line;
      if (!isNumber(number)) return ['has no number'];
      const faults: string[] = [];
      const twin = links.get(number);
      if (twin) faults.push(`has number ${number}, like ${twin.maintenanceId}`);
      const made = leafOf(line, context);
      if (typeof made === 'string') faults.push(made);
      const link = typeof made === 'object' ? made : null;
      const claimed = link?.claims;
      if (claimed && claimed.number !== number) {
        faults.push(`is listed as number ${number}, but its leaf claims number ${String(claimed.number)}`);
      }
      const previousEntry = claimed?.previousEntry;
      if (claimed && !isHash(previousEntry)) faults.push('has a leaf that does not name the entry before');
      if (!twin) {
        links.set(number, {
          ...{ maintenanceId, number, leaf: link?.leaf ?? null },
          previousEntry: isHash(previousEntry) ? previousEntry : null,
        });
      }
      return faults;
    },

    faults() {
      const faults: { place: string; message: string }[] = [];
      let before: Link | null = null;
      // By what there is, not by what a number says: a forged one may be huge.
      for (const link of [...links.values()].sort((one, other) => one.number - other.number)) {
        const expected: number = (before?.number ?? 0) + 1;
        if (link.number !== expected) {
          faults.push(missing(expected, link.number - 1));
        } else {
          const fault = followsFault(link, before);
          if (fault !== null) faults.push({ place: link.maintenanceId, message: fault });
        }
        before = link;
      }
      return faults;
    },
  };
}

function followsFault({ number, previousEntry }: Link, before: Link | null): string | null {
  // A leaf that could not be made is reported with its entry.
  if (previousEntry === null || (before && before.leaf === null)) return null;
  if (previousEntry === (before?.leaf ?? zeroHash)) return null;
  return before
    ? `does not follow ${before.maintenanceId}: as number ${number} it was recorded after another entry`
    : 'is number 1, but was recorded after another entry';
}

function missing(first: number, last: number) {
  return first === last
    ? { place: `Entry number ${first}`, message: 'is missing' }
    : { place: `Entries number ${first} to ${last}`, message: 'are missing' };
}

/** The leaf and what it claims, a message why it cannot be made, or null if its proof was refused. */
function leafOf(
  { maintenanceId, maintenanceHash, proof, pending, unprovable }: EntryLine,
  { workspaceId, isProven }: { workspaceId: string; isProven: boolean },
): { leaf: Hex; claims: Claims } | string | null {
  if (proof) {
    if (!isProven || proof.claims === null) return null;
    return { leaf: toHex(leafHash(proof.leaf.values)), claims: proof.claims };
  }
  if (unprovable) return null;
  if (!pending) return 'has neither a proof nor the parts of its leaf';
  try {
    const values = leafValues({
      ...{ kind: 'maintenance', canonicalization: 'jcs', digest: maintenanceHash, version: 1 },
      subject: { workspaceId, id: maintenanceId },
      previousLeaf: zeroHash,
      vault: pending.vault,
      claimsHash: claimsHash(pending.claims),
    });
    return { leaf: toHex(leafHash(values)), claims: pending.claims };
  } catch (error) {
    return `has a leaf that cannot be made: ${(error as Error).message}`;
  }
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function isHash(value: unknown): value is Hex {
  return typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value);
}
