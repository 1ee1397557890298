/** All faults and all rules of the oracle on one screen. */
import type { Fault } from './fault.ts';
import { killBoth } from './faults/kill-both.ts';
import { killDatabase } from './faults/kill-database.ts';
import { killService } from './faults/kill-service.ts';
import { restart } from './faults/restart.ts';
import { stopPastLease } from './faults/stop-past-lease.ts';
import type { Rule } from './rule.ts';
import { auditChainHolds } from './rules/audit-chain.ts';
import { nobodyComplains } from './rules/complaints.ts';
import {
  everyDeliveryIsSettled,
  everyEventArrived,
  everySubscriptionHasOneDelivery,
} from './rules/deliveries.ts';
import { feedIsWhole } from './rules/feed.ts';
import { everyMoveHasOneEvent, vaultsAreWhereTheyWereMoved } from './rules/moves.ts';
import {
  acknowledgedIsStored,
  everythingExistsOnce,
  listedIsStored,
  refusedIsNotStored,
} from './rules/stored.ts';

/** One round; each round is shuffled by the seed, so that a run has them all in these shares. */
export const faultsOfARound: Fault[] = [
  killService,
  killService,
  killService,
  killDatabase,
  killDatabase,
  killBoth,
  restart,
  stopPastLease,
];

export const rules: Rule[] = [
  nobodyComplains,
  acknowledgedIsStored,
  refusedIsNotStored,
  everythingExistsOnce,
  vaultsAreWhereTheyWereMoved,
  everyMoveHasOneEvent,
  listedIsStored,
  everySubscriptionHasOneDelivery,
  everyDeliveryIsSettled,
  everyEventArrived,
  feedIsWhole,
  auditChainHolds,
];
