/** Keeps the delivery log in order: the days ahead have their partition, old days go, dead nodes give back their claims. */
import type { Db } from '../db/database.ts';
import { type Bell, type Loop, repeating } from '../loop.ts';
import type { Nodes } from './nodes.ts';
import { keepPartitions } from './partitions.ts';

export function deliveryLogLoop(db: Db, retentionDays: number): Loop {
  return repeating({
    name: 'delivery-log',
    restMs: 60 * 60 * 1000,
    async step() {
      await keepPartitions(db, retentionDays);
      return false;
    },
  });
}

export function nodesLoop(nodes: Nodes, deliveryBell: Bell): Loop {
  return repeating({
    name: 'webhook-nodes',
    restMs: 2_000,
    async step() {
      await nodes.hold();
      if ((await nodes.releaseDead()) > 0) deliveryBell.ring();
      return false;
    },
  });
}
