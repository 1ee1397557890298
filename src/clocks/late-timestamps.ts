/** The sign that no timestamp authority vouches for new batches. */
import { readClockStats, readLastTokens } from '../anchoring/evidence/clock-stats.ts';
import type { Db } from '../db/database.ts';
import type { Watch } from '../events/notice.ts';

const hour = 3_600;

/** New batches wait for seconds as always; with a fresh token nothing is wrong. */
export function lateTimestamps(db: Db, authorities: readonly string[]): Watch {
  return {
    name: 'timestamps',
    async look() {
      if (authorities.length === 0) return [];
      const { unstampedBatches } = await readClockStats(db);
      if (unstampedBatches === 0) return [];
      const last = await readLastTokens(db, authorities);
      if (last.some(({ ageSeconds }) => ageSeconds < hour)) return [];
      const loop = 'timestamps';
      return [
        {
          type: 'operator.loop.failing',
          subject: `${loop} late`,
          data: { loop, how: 'late' },
          holdMs: hour * 1000,
        },
      ];
    },
  };
}
