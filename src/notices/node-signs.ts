/** What a node sees of itself: loops that fail, and the space on its disk. */
import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Sign, Watch } from '../events/notice.ts';
import type { LoopHealth } from '../runtime/loop.ts';

/** A loop that fails counts as running during each attempt; until one succeeds, its error stays. */
export function loopWatch(loopHealth: () => LoopHealth[]): Watch {
  return {
    name: 'loops',
    look: async () =>
      loopHealth()
        .filter(({ state, lastError }) => state === 'stuck' || (state !== 'stopped' && lastError !== null))
        .map(
          ({ name: loop, state }): Sign => ({
            type: 'operator.loop.failing',
            subject: loop,
            data: { loop, how: state === 'stuck' ? 'stuck' : 'failing' },
          }),
        ),
  };
}

/** Space that ends less than a fifth above the limit does not end a notice. */
const enough = 1.2;

export function diskWatch({ dir, lowBytes }: { dir: string; lowBytes: number }): Watch {
  return {
    name: 'disk',
    async look() {
      const { bavail, bsize } = await statfs(dir);
      const freeBytes = bavail * bsize;
      if (freeBytes >= lowBytes * enough) return [];
      const node = hostname();
      return [
        {
          type: 'operator.disk.low',
          subject: node,
          data: { node, free_bytes: freeBytes },
          weak: freeBytes >= lowBytes,
        },
      ];
    },
  };
}
