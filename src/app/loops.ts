/** All background work on one screen. */
import { apiKeyUseLoop } from '../access/api-keys/api-key-use.loop.ts';
import type { ApiKeys } from '../access/api-keys/api-keys.ts';
import { auditChainLoop } from '../access/audit/audit-chain.loop.ts';
import { peopleUpkeepLoop } from '../access/people/people-upkeep.loop.ts';
import { blobSweepLoop } from '../blobs/sweep.loop.ts';
import type { Sweep } from '../blobs/sweep.ts';
import type { Db } from '../db/database.ts';
import type { EmbeddedPostgres } from '../db/embedded/embedded-postgres.ts';
import type { LowWater } from '../db/low-water.ts';
import { eventOrderLoop } from '../events/event-order.loop.ts';
import { auditAnchorsLoop } from '../holdings/audit-proofs/audit-anchors.loop.ts';
import { fileValidationLoop } from '../holdings/files/validation/file-validation.loop.ts';
import type { FileValidator } from '../holdings/files/validation/file-validator.ts';
import { idempotencyLoop } from '../http/api/idempotency.loop.ts';
import { keyringLoop } from '../keys/keyring.loop.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { Loop, Wakeup } from '../runtime/loop.ts';
import type { Nodes } from '../webhooks/dispatch/nodes.ts';
import { deliveryLogLoop, nodesLoop } from '../webhooks/dispatch/upkeep.loop.ts';
import { replaysLoop } from '../webhooks/replays/replays.loop.ts';
import type { Replays } from '../webhooks/replays/replays.ts';
import type { OnChain } from './on-chain.ts';

export interface LoopDeps {
  db: Db;
  embedded: EmbeddedPostgres | null;
  keyring: Keyring;
  apiKeys: ApiKeys;
  orderWakeup: Wakeup;
  eventLowWater: LowWater;
  feedWakeup: Wakeup;
  deliveryWakeup: Wakeup;
  replayWakeup: Wakeup;
  nodes: Nodes;
  dispatcher: Loop;
  replays: Replays;
  onChain: OnChain;
  blobSweep: Sweep;
  fileValidator: FileValidator;
  validationWakeup: Wakeup;
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
    eventOrderLoop(db, { lowWater: deps.eventLowWater, order: deps.orderWakeup, feed: deps.feedWakeup }),
    auditChainLoop(db),
    auditAnchorsLoop(db),
    idempotencyLoop(db),
    peopleUpkeepLoop(db),
    deps.dispatcher,
    replaysLoop(deps.replays, deps.replayWakeup),
    nodesLoop(deps.nodes, deps.deliveryWakeup),
    deliveryLogLoop(db, deps.retentionDays),
    blobSweepLoop(deps.blobSweep),
    ...deps.onChain.loops,
    fileValidationLoop(deps.fileValidator, { lead: deps.onChain.lead, wakeup: deps.validationWakeup }),
  ];
}
