/** All faults and all rules of the oracle on one screen. */
import type { ChainMode } from './chain.ts';
import {
  freezeNode,
  killAmidFailover,
  killNode,
  killNodes,
  killPrimary,
  killPrimaryServer,
  killProxy,
  killStandby,
  rollNode,
} from './cluster/faults.ts';
import type { Fault } from './fault.ts';
import { changeLeader } from './faults/change-leader.ts';
import { dropPool } from './faults/drop-pool.ts';
import { killAll } from './faults/kill-all.ts';
import {
  killAfterBroadcast,
  killBeforeBroadcast,
  killWhenConfirmed,
  killWhenStored,
} from './faults/kill-at.ts';
import { killChain, killServiceAndChain } from './faults/kill-chain.ts';
import { killDatabase } from './faults/kill-database.ts';
import {
  killBeforeAttached,
  killBeforeResult,
  killBeforeTransfer,
  killDuringUpload,
  killWhenFileStored,
} from './faults/kill-in-files.ts';
import { killService } from './faults/kill-service.ts';
import { raiseFees } from './faults/raise-fees.ts';
import { deepReorg, reorg } from './faults/reorg.ts';
import { resetChain } from './faults/reset-chain.ts';
import { restart } from './faults/restart.ts';
import { rpcTroubles } from './faults/rpc-trouble.ts';
import { stopPastLease } from './faults/stop-past-lease.ts';
import type { Rule } from './rule.ts';
import { everythingIsAnchoredOnce, noncesHaveNoGap, nothingIsStuck } from './rules/anchors.ts';
import { assetsAreStored } from './rules/assets.ts';
import { auditChainHolds } from './rules/audit-chain.ts';
import { nobodyComplains } from './rules/complaints.ts';
import { everyConfirmationIsToldOnce } from './rules/confirmations.ts';
import { everyHistoryHolds, transfersAreComplete, validationsHaveOneResult } from './rules/custody.ts';
import {
  everyDeliveryIsSettled,
  everyEventArrived,
  everySubscriptionHasOneDelivery,
} from './rules/deliveries.ts';
import { feedIsWhole } from './rules/feed.ts';
import {
  everyBlobHasItsObject,
  everyContentComesBack,
  filesAreStored,
  orphansAreFew,
} from './rules/files.ts';
import { fsckFindsNothing } from './rules/fsck.ts';
import { everyMoveHasOneEvent, vaultsAreWhereTheyWereMoved } from './rules/moves.ts';
import { everyProofHolds } from './rules/proofs.ts';
import { recordsAreStored } from './rules/records.ts';
import {
  acknowledgedIsStored,
  everythingExistsOnce,
  listedIsStored,
  refusedIsNotStored,
} from './rules/stored.ts';

const ofTheService: Fault[] = [
  killService,
  killService,
  killService,
  killDatabase,
  killDatabase,
  killAll,
  restart,
  stopPastLease,
  killDuringUpload,
  killBeforeAttached,
  killWhenFileStored,
];

/** One round each; a round is shuffled by the seed, so that a run has them all in these shares. */
export const rounds: Record<ChainMode, Fault[]> = {
  embedded: [
    ...ofTheService,
    killChain,
    killChain,
    killServiceAndChain,
    killWhenStored,
    killWhenConfirmed,
    killBeforeResult,
    killBeforeTransfer,
    changeLeader,
    changeLeader,
  ],
  rpc: [
    ...rpcTroubles,
    reorg,
    reorg,
    deepReorg,
    deepReorg,
    dropPool,
    raiseFees,
    resetChain,
    killService,
    killWhenStored,
    killBeforeBroadcast,
    killAfterBroadcast,
    killWhenConfirmed,
    killDuringUpload,
    killBeforeAttached,
    killBeforeResult,
    killBeforeTransfer,
    killDatabase,
    changeLeader,
  ],
  none: ofTheService,
};

const ofTheCluster: Fault[] = [
  killNode,
  killNode,
  killNodes,
  rollNode,
  freezeNode,
  killPrimary,
  killPrimary,
  killPrimaryServer,
  killStandby,
  killProxy,
  killProxy,
  killAmidFailover,
];

export const clusterRounds: Record<ChainMode, Fault[]> = {
  embedded: [...ofTheCluster, killChain, killChain],
  rpc: [...ofTheCluster, ...rpcTroubles, reorg, deepReorg, dropPool, raiseFees],
  none: ofTheCluster,
};

export const rules: Rule[] = [
  nobodyComplains,
  acknowledgedIsStored,
  refusedIsNotStored,
  everythingExistsOnce,
  recordsAreStored,
  filesAreStored,
  everyBlobHasItsObject,
  assetsAreStored,
  vaultsAreWhereTheyWereMoved,
  everyMoveHasOneEvent,
  nothingIsStuck,
  transfersAreComplete,
  validationsHaveOneResult,
  listedIsStored,
  everySubscriptionHasOneDelivery,
  everyDeliveryIsSettled,
  everyEventArrived,
  feedIsWhole,
  auditChainHolds,
  everythingIsAnchoredOnce,
  noncesHaveNoGap,
  everyConfirmationIsToldOnce,
  everyProofHolds,
  everyHistoryHolds,
  everyContentComesBack,
  orphansAreFew,
  fsckFindsNothing,
];
