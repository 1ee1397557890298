/** The events of the feed, the stream and webhooks. Generated from docs/openapi.json by `npm run openapi:accept`; do not edit. */
import type { components } from './openapi-types.ts';

type Schemas = components['schemas'];

/** By type. The service adds types over time: skip those you do not know. */
export interface Events {
  /** A file version was confirmed on the chain. */
  'file.anchor.confirmed': Schemas['FileAnchorConfirmedEvent'];
  /** The validation of a file was completed. */
  'file.validation.completed': Schemas['FileValidationCompletedEvent'];
  /** A file was transferred to another vault. */
  'file.transfer.completed': Schemas['FileTransferCompletedEvent'];
  /** A record version was confirmed on the chain. */
  'record.anchor.confirmed': Schemas['RecordAnchorConfirmedEvent'];
  /** A vault was deactivated. */
  'vault.deactivated': Schemas['VaultDeactivatedEvent'];
  /** A vault was reactivated. */
  'vault.reactivated': Schemas['VaultReactivatedEvent'];
  /** A maintenance entry was confirmed on the chain. */
  'maintenance.anchor.confirmed': Schemas['MaintenanceAnchorConfirmedEvent'];
  /** A certified maintenance entry was corrected: what it released waits for the correction to be certified. */
  'maintenance.release.withdrawn': Schemas['MaintenanceReleaseWithdrawnEvent'];
  /** An asset was transferred to another vault. */
  'asset.transfer.completed': Schemas['AssetTransferCompletedEvent'];
  /** An asset was created, changed, installed or removed. */
  'asset.changed': Schemas['AssetChangedEvent'];
  /** A maintenance interval of an asset was created, changed, completed or deleted. */
  'asset.intervals.changed': Schemas['AssetIntervalsChangedEvent'];
  /** A page of an asset was published for everyone who has its link. */
  'asset.page.published': Schemas['AssetPagePublishedEvent'];
  /** A published page of an asset was revoked, or ended because the asset was transferred. */
  'asset.page.ended': Schemas['AssetPageEndedEvent'];
  /** A reorg removed an anchor transaction from the chain; its content is anchored again. */
  'anchor.reorged': Schemas['AnchorReorgedEvent'];
  /** A webhook endpoint was disabled because it is gone or failed for too long. */
  'endpoint.disabled': Schemas['EndpointDisabledEvent'];
  /** Somebody asked for a step that a second person has to approve. */
  'approval.requested': Schemas['ApprovalRequestedEvent'];
  /** A step that needed a second person was approved, refused or withdrawn, or nobody decided in time. */
  'approval.decided': Schemas['ApprovalDecidedEvent'];
  /** A webhook endpoint is failing, or works again. */
  'endpoint.failing': Schemas['EndpointFailingEvent'];
  /** An API key expires within 14 days. */
  'api_key.expiring': Schemas['Api_keyExpiringEvent'];
  /** A step waits for a second person, or no longer does. */
  'approval.waiting': Schemas['ApprovalWaitingEvent'];
  /** Maintenance work on an asset is due, or has been completed; or the asset has reached a life limit. */
  'asset.maintenance.due': Schemas['AssetMaintenanceDueEvent'];
  /** A licence of a worker expires within 30 days or has expired, or was renewed or removed. */
  'worker.licence.expiring': Schemas['WorkerLicenceExpiringEvent'];
  /** Default workspace only: the account that pays for anchors runs out of funds, or was funded. */
  'operator.gas.low': Schemas['OperatorGasLowEvent'];
  /** Default workspace only: anchoring or the chain falls behind, or has caught up. */
  'operator.chain.behind': Schemas['OperatorChainBehindEvent'];
  /** Default workspace only: a background loop fails or is late, or works again. */
  'operator.loop.failing': Schemas['OperatorLoopFailingEvent'];
  /** Default workspace only: a node has little free disk space, or has enough again. */
  'operator.disk.low': Schemas['OperatorDiskLowEvent'];
  /** Default workspace only: a workspace has used nine tenths of a budget, or is below that again. */
  'operator.budget.near': Schemas['OperatorBudgetNearEvent'];
}

export type EventType = keyof Events;

/** An event of any known type; `type` says which. */
export type Event = Events[EventType];
