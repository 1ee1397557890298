/** Whoever did the work of an entry neither inspects nor certifies its corrections: a rule across the entries of a dossier. */
import { licenceKey } from '../signing/licence.ts';
import { performersOf } from '../signing/signoff.ts';
import type { EntryLine } from './dossier-format.ts';

export interface PerformerCheck {
  /** In any order. */
  add(line: EntryLine): void;
  /** After the last entry. */
  faults(): { place: string; message: string }[];
}

/** Of entries that correct, or are corrected. */
interface Link {
  supersedes: string | null;
  performers: ReturnType<typeof performersOf>;
  judges: { place: string; address: string; licence: string | null }[];
}

export function createPerformerCheck(): PerformerCheck {
  const links = new Map<string, Link>();
  const corrections = new Map<string, string>();
  return {
    add({ maintenanceId, entry, supersededBy, signoffs }) {
      if (entry.supersedes === null && supersededBy === null) return;
      const documents = signoffs.map(({ document }) => document);
      links.set(maintenanceId, {
        supersedes: entry.supersedes,
        performers: performersOf(entry, documents),
        judges: signoffs
          .filter(({ document }) => document.role !== 'performed')
          .map(({ number, document: { role, workerAddress, licence } }) => ({
            place: `${maintenanceId}, sign-off ${number} (${role})`,
            address: workerAddress.toLowerCase(),
            licence: licence && licenceKey(licence),
          })),
      });
      if (entry.supersedes !== null) corrections.set(entry.supersedes, maintenanceId);
    },

    faults() {
      const found: { place: string; message: string }[] = [];
      const isFirst = ({ supersedes }: Link) => supersedes === null || !links.has(supersedes);
      for (const [first, link] of links) if (isFirst(link)) found.push(...faultsFrom(first));
      return found;
    },
  };

  /** From the first entry to its last correction. A missing entry is reported elsewhere. */
  function faultsFrom(first: string): { place: string; message: string }[] {
    const found: { place: string; message: string }[] = [];
    const performed = new Set<string>();
    for (let id: string | undefined = first; id !== undefined; id = corrections.get(id)) {
      const link = links.get(id);
      if (!link) break;
      for (const { place, address, licence } of link.judges) {
        if (!performed.has(address) && !(licence !== null && performed.has(licence))) continue;
        found.push({ place, message: 'is by somebody who did the work of an entry that this one corrects' });
      }
      for (const { address, licences } of link.performers) {
        performed.add(address.toLowerCase());
        for (const licence of licences) performed.add(licence);
      }
    }
    return found;
  }
}
