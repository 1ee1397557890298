/** Maintenance of the delivery log: creates partitions ahead, drops old ones, counts, and releases the claims of dead nodes. */
import type { Db } from '../../db/database.ts';
import { type Loop, repeating, type Wakeup } from '../../runtime/loop.ts';
import { countHours } from '../deliveries/delivery-hours.ts';
import { keepPartitions } from '../deliveries/partitions.ts';
import type { Nodes } from './nodes.ts';

const lookEveryMs = 60 * 60 * 1000;
const againMs = 60 * 1000;

export function deliveryLogLoop(db: Db, retentionDays: number): Loop {
  let nextAt = 0;
  return repeating({
    name: 'delivery-log',
    restMs: againMs,
    async step() {
      if (performance.now() < nextAt) return false;
      const { unfinished } = await keepPartitions(db, retentionDays);
      nextAt = performance.now() + (unfinished ? 0 : lookEveryMs);
      return false;
    },
  });
}

const countEveryMs = 5 * 60 * 1000;

export function deliveryHoursLoop(db: Db): Loop {
  return repeating({
    name: 'delivery-hours',
    restMs: countEveryMs,
    step: async () => (await countHours(db)) === true,
  });
}

export function nodesLoop(nodes: Nodes, deliveryWakeup: Wakeup): Loop {
  return repeating({
    name: 'webhook-nodes',
    restMs: 2_000,
    async step() {
      await nodes.hold();
      if ((await nodes.releaseDead()) > 0) deliveryWakeup.wake();
      return false;
    },
  });
}
