/**
 * The order in which entries were recorded, which their numbers prove: owners follow each other in it as their transfers do,
 * and so do the times that entries state. Clocks are set back, and an entry may meet a transfer: so what does not fit is not
 * shown, and no contradiction.
 */
import type { Ownership } from './dossier-ownership.ts';
import { clocksMs } from './dossier-times.ts';

export interface OrderedEntry {
  number: number;
  /** Milliseconds since 1970. */
  recordedAt: number;
  /** Who sealed it; null when no proof says so. */
  vault: string | null;
}

/** What is not shown, for people. */
export function orderGaps(entries: OrderedEntry[], owned: Pick<Ownership, 'vault'>[]): string[] {
  const gaps = new Set<string>();
  let latest = -Infinity;
  let owner = 0;
  for (const { recordedAt, vault } of entries.toSorted((one, other) => one.number - other.number)) {
    if (recordedAt < latest - clocksMs) gaps.add(untimely);
    else latest = Math.max(latest, recordedAt);
    if (vault === null) continue;
    const next = owned.findIndex((one, place) => place >= owner && one.vault === vault);
    if (next >= 0) owner = next;
    else gaps.add(sealedByFormer);
  }
  return [...gaps];
}

const untimely =
  'When entries were recorded: the times that they state are not in the order of their numbers.';
const sealedByFormer =
  'That the owner sealed all entries: one is sealed by an earlier owner than an entry with a lower number.';
