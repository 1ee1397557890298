/** All background work on one screen. */
import { apiKeyUseLoop } from './auth/api-key-use.loop.ts';
import type { ApiKeys } from './auth/api-keys.ts';
import { auditChainLoop } from './auth/audit-chain.loop.ts';
import { peopleUpkeepLoop } from './auth/people-upkeep.loop.ts';
import { blobSweepLoop } from './blobs/sweep.loop.ts';
import type { Sweep } from './blobs/sweep.ts';
import type { Db } from './db/database.ts';
import type { EmbeddedPostgres } from './db/embedded/embedded-postgres.ts';
import type { LowWater } from './db/low-water.ts';
import { idempotencyLoop } from './http/idempotency.loop.ts';
import { keyringLoop } from './keys/keyring.loop.ts';
import type { Keyring } from './keys/keyring.ts';
import type { Bell, Loop } from './loop.ts';
import type { OnChain } from './on-chain.ts';
import { auditAnchorsLoop } from './platform/audit-anchors.loop.ts';
import { fileValidationLoop } from './platform/file-validation.loop.ts';
import type { FileValidator } from './platform/file-validator.ts';
import { eventOrderLoop } from './webhooks/event-order.loop.ts';
import type { Nodes } from './webhooks/nodes.ts';
import { replaysLoop } from './webhooks/replays.loop.ts';
import type { Replays } from './webhooks/replays.ts';
import { deliveryLogLoop, nodesLoop } from './webhooks/upkeep.loop.ts';

export interface LoopDeps {
  db: Db;
  embedded: EmbeddedPostgres | null;
  keyring: Keyring;
  apiKeys: ApiKeys;
  orderBell: Bell;
  eventLowWater: LowWater;
  feedBell: Bell;
  deliveryBell: Bell;
  replayBell: Bell;
  nodes: Nodes;
  dispatcher: Loop;
  replays: Replays;
  onChain: OnChain;
  blobSweep: Sweep;
  fileValidator: FileValidator;
  validationBell: Bell;
  retentionDays: number;
  /** False on a node that only answers requests. */
  shared: boolean;
}

export function allLoops(deps: LoopDeps): Loop[] {
  const { db, embedded, keyring, apiKeys } = deps;
  // What this node needs for itself, whatever its role.
  const own = [...(embedded ? [embedded.loop] : []), keyringLoop(keyring), apiKeyUseLoop(apiKeys)];
  if (!deps.shared) return own;
  return [
    ...own,
    eventOrderLoop(db, { lowWater: deps.eventLowWater, order: deps.orderBell, feed: deps.feedBell }),
    auditChainLoop(db),
    auditAnchorsLoop(db),
    idempotencyLoop(db),
    peopleUpkeepLoop(db),
    deps.dispatcher,
    replaysLoop(deps.replays, deps.replayBell),
    nodesLoop(deps.nodes, deps.deliveryBell),
    deliveryLogLoop(db, deps.retentionDays),
    blobSweepLoop(deps.blobSweep),
    ...deps.onChain.loops,
    fileValidationLoop(deps.fileValidator, { lead: deps.onChain.lead, bell: deps.validationBell }),
  ];
}
