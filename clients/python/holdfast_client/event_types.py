"""The events of the feed, the stream and webhooks. Generated from docs/openapi.json by `npm run openapi:accept`; do not edit."""

from __future__ import annotations

from typing import Literal, Union

from . import schemas

EventType = Literal[
    "file.anchor.confirmed",
    "file.validation.completed",
    "file.transfer.completed",
    "record.anchor.confirmed",
    "vault.deactivated",
    "vault.reactivated",
    "maintenance.anchor.confirmed",
    "maintenance.release.withdrawn",
    "asset.transfer.completed",
    "asset.changed",
    "asset.intervals.changed",
    "asset.page.published",
    "asset.page.ended",
    "anchor.reorged",
    "endpoint.disabled",
    "approval.requested",
    "approval.decided",
    "endpoint.failing",
    "api_key.expiring",
    "approval.waiting",
    "asset.maintenance.due",
    "worker.licence.expiring",
    "operator.gas.low",
    "operator.chain.behind",
    "operator.loop.failing",
    "operator.disk.low",
    "operator.budget.near",
]

# The service adds types over time: skip those you do not know.
Event = Union[
    schemas.FileAnchorConfirmedEvent,  # A file version was confirmed on the chain
    schemas.FileValidationCompletedEvent,  # The validation of a file was completed
    schemas.FileTransferCompletedEvent,  # A file was transferred to another vault
    schemas.RecordAnchorConfirmedEvent,  # A record version was confirmed on the chain
    schemas.VaultDeactivatedEvent,  # A vault was deactivated
    schemas.VaultReactivatedEvent,  # A vault was reactivated
    schemas.MaintenanceAnchorConfirmedEvent,  # A maintenance entry was confirmed on the chain
    schemas.MaintenanceReleaseWithdrawnEvent,  # A certified maintenance entry was corrected: what it released waits for the correction to be certified
    schemas.AssetTransferCompletedEvent,  # An asset was transferred to another vault
    schemas.AssetChangedEvent,  # An asset was created, changed, installed or removed
    schemas.AssetIntervalsChangedEvent,  # A maintenance interval of an asset was created, changed, completed or deleted
    schemas.AssetPagePublishedEvent,  # A page of an asset was published for everyone who has its link
    schemas.AssetPageEndedEvent,  # A published page of an asset was revoked, or ended because the asset was transferred
    schemas.AnchorReorgedEvent,  # A reorg removed an anchor transaction from the chain; its content is anchored again
    schemas.EndpointDisabledEvent,  # A webhook endpoint was disabled because it is gone or failed for too long
    schemas.ApprovalRequestedEvent,  # Somebody asked for a step that a second person has to approve
    schemas.ApprovalDecidedEvent,  # A step that needed a second person was approved, refused or withdrawn, or nobody decided in time
    schemas.EndpointFailingEvent,  # A webhook endpoint is failing, or works again
    schemas.Api_keyExpiringEvent,  # An API key expires within 14 days
    schemas.ApprovalWaitingEvent,  # A step waits for a second person, or no longer does
    schemas.AssetMaintenanceDueEvent,  # Maintenance work on an asset is due, or has been completed; or the asset has reached a life limit
    schemas.WorkerLicenceExpiringEvent,  # A licence of a worker expires within 30 days or has expired, or was renewed or removed
    schemas.OperatorGasLowEvent,  # Default workspace only: the account that pays for anchors runs out of funds, or was funded
    schemas.OperatorChainBehindEvent,  # Default workspace only: anchoring or the chain falls behind, or has caught up
    schemas.OperatorLoopFailingEvent,  # Default workspace only: a background loop fails or is late, or works again
    schemas.OperatorDiskLowEvent,  # Default workspace only: a node has little free disk space, or has enough again
    schemas.OperatorBudgetNearEvent,  # Default workspace only: a workspace has used nine tenths of a budget, or is below that again
]
