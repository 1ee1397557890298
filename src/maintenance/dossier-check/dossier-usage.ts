/**
 * The usage of an asset as its entries state it: the highest value of an entry that is not superseded. Counted twice, over all
 * entries and over those that are proven, so that nobody raises it or hides it with an entry that nobody sealed.
 */
import type { MaintenanceEntry, Usage } from '../signing/maintenance-entry.ts';

type Counters = Required<Usage>;

export interface UsageCheck {
  add(maintenanceId: string, entry: Pick<MaintenanceEntry, 'data' | 'supersedes'>, isProven: boolean): void;
  /** `stated`: with the asset itself. */
  most(stated: Counters): Counters;
  /** By proven entries alone. */
  mostProven(): Counters;
}

interface Stated {
  usage: Usage;
  isProven: boolean;
}

export function createUsageCheck(): UsageCheck {
  const usages = new Map<string, Stated>();
  const superseded = new Set<string>();
  const supersededProven = new Set<string>();

  function highest(from: Counters, counts: (id: string, stated: Stated) => boolean): Counters {
    const most = { ...from };
    for (const [id, stated] of usages) {
      if (!counts(id, stated)) continue;
      for (const counter of ['hours', 'cycles'] as const) {
        most[counter] = Math.max(most[counter], Number(stated.usage[counter] ?? 0));
      }
    }
    return most;
  }

  return {
    add(maintenanceId, { data, supersedes }, isProven) {
      if (data.usage) usages.set(maintenanceId, { usage: data.usage as Usage, isProven });
      if (supersedes === null) return;
      superseded.add(supersedes);
      if (isProven) supersededProven.add(supersedes);
    },
    most: (stated) => highest(stated, (id) => !superseded.has(id)),
    mostProven: () =>
      highest({ hours: 0, cycles: 0 }, (id, { isProven }) => isProven && !supersededProven.has(id)),
  };
}
