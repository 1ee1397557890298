/** The state of the clocks beside the chain, for the overview. */
import { countPendingOts, countUncheckedOts, readLastTokens } from '../anchoring/evidence/clock-stats.ts';
import type { Db } from '../db/database.ts';
import type { StampingLane } from './stamping.ts';

export interface ClocksState {
  authorities: {
    name: string;
    lastTokenAt: Date | null;
    /** Known only on the leading node; null elsewhere. */
    awaySince: Date | null;
  }[];
  /** Null while OpenTimestamps is off. */
  openTimestamps: { pending: number; unchecked: number } | null;
}

export interface ClocksStateDeps {
  db: Db;
  lanes: readonly Pick<StampingLane, 'name' | 'url' | 'awaySince'>[];
  hasCalendars: boolean;
  isLeading(): boolean;
}

export async function readClocksState(deps: ClocksStateDeps): Promise<ClocksState> {
  const { db, lanes, hasCalendars, isLeading } = deps;
  const last = await readLastTokens(
    db,
    lanes.map(({ url }) => url),
  );
  return {
    authorities: lanes.map(({ name, url, awaySince }) => ({
      name,
      lastTokenAt: last.find(({ authority }) => authority === url)?.at ?? null,
      awaySince: isLeading() ? awaySince() : null,
    })),
    openTimestamps: hasCalendars
      ? { pending: await countPendingOts(db), unchecked: await countUncheckedOts(db) }
      : null,
  };
}
