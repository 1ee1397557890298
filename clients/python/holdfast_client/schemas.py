"""The objects of the API as typed dictionaries. Generated from docs/openapi.json by `npm run openapi:accept`; do not edit."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union


class AnchorReorgedEvent(TypedDict):
    """A reorg removed an anchor transaction from the chain; its content is anchored again."""

    id: str
    type: Literal["anchor.reorged"]
    timestamp: str
    workspace_id: str
    data: AnchorReorgedEventData


class AnchorReorgedEventData(TypedDict):
    tx_hash: str
    block_number: int
    reorged_at: str


class ApiKey(TypedDict):
    """An API key, without its secret."""

    id: str
    name: str
    hint: str
    scopes: List[str]
    createdAt: str
    expiresAt: Optional[str]
    lastUsedAt: Optional[str]
    revokedAt: Optional[str]


class Api_keyExpiringEvent(TypedDict):
    """An API key expires within 14 days."""

    id: str
    type: Literal["api_key.expiring"]
    timestamp: str
    workspace_id: str
    data: Api_keyExpiringEventData


class Api_keyExpiringEventData(TypedDict):
    notice_id: str
    state: Literal["raised", "cleared"]
    since: str
    key_id: str
    name: str
    expires_at: str


class Approval(TypedDict):
    """A step that needs a second person."""

    id: str
    step: Literal["record.erase_data", "file.erase_content", "vault.set_retention", "file.transfer", "asset.transfer", "api_key.create", "approval_rules.change"]
    subjectId: Optional[str]
    effect: Dict[str, Any]
    status: Literal["open", "approved", "refused", "withdrawn", "expired"]
    role: str
    requestedBy: ApprovalRequestedBy
    requestedAt: str
    expiresAt: str
    decidedBy: Optional[ApprovalDecidedBy]
    decidedAt: Optional[str]
    reason: Optional[str]
    result: Optional[Dict[str, Any]]
    canDecide: bool
    canCollect: bool


class ApprovalRequestedBy(TypedDict):
    kind: str
    id: str
    personId: Optional[str]


class ApprovalDecidedBy(TypedDict):
    kind: str
    id: str


class ApprovalDecidedEvent(TypedDict):
    """A step that needed a second person was approved, refused or withdrawn, or nobody decided in time."""

    id: str
    type: Literal["approval.decided"]
    timestamp: str
    workspace_id: str
    data: ApprovalDecidedEventData


class ApprovalDecidedEventData(TypedDict):
    approval_id: str
    step: str
    subject_id: str
    decision: Literal["approved", "refused", "withdrawn", "expired"]
    decided_by: str
    decided_at: str


class ApprovalRequestedEvent(TypedDict):
    """Somebody asked for a step that a second person has to approve."""

    id: str
    type: Literal["approval.requested"]
    timestamp: str
    workspace_id: str
    data: ApprovalRequestedEventData


class ApprovalRequestedEventData(TypedDict):
    approval_id: str
    step: str
    subject_id: str
    requested_by: str
    requested_at: str
    expires_at: str


class ApprovalRules(TypedDict):
    """Which steps need a second person in the workspace."""

    eraseContent: bool
    transfer: bool
    wideKeys: bool
    expiresAfterHours: int
    deciders: int


class ApprovalWaitingEvent(TypedDict):
    """A step waits for a second person, or no longer does."""

    id: str
    type: Literal["approval.waiting"]
    timestamp: str
    workspace_id: str
    data: ApprovalWaitingEventData


class ApprovalWaitingEventData(TypedDict):
    notice_id: str
    state: Literal["raised", "cleared"]
    since: str
    approval_id: str
    step: str
    subject_id: str
    expires_at: str


class Asset(TypedDict):
    """An asset under maintenance."""

    assetId: str
    vaultId: str
    vaultAddress: str
    name: str
    serialNumber: str
    partNumber: str
    metadata: Dict[str, Any]
    parentAssetId: Optional[str]
    usage: AssetUsage
    usageFromParents: AssetUsageFromParents
    version: int
    status: Literal["pending", "batched", "submitted", "confirmed", "finalized"]
    anchor: Optional[AssetAnchor]
    createdAt: str
    updatedAt: str


class AssetUsage(TypedDict):
    """The highest value stated here or in an entry that was not superseded, and what its parents ran since then while it was installed in them."""

    hours: float
    cycles: int


class AssetUsageFromParents(TypedDict):
    """The part of `usage` that is not stated of the asset itself: what its parents ran."""

    hours: float
    cycles: int


class AssetAnchor(TypedDict):
    """Null until it is confirmed."""

    chainId: int
    transactionHash: str
    blockNumber: int
    anchoredAt: str


class AssetAccess(TypedDict):
    """One access to an asset: who, what and when."""

    at: str
    viewerAddress: str
    what: str
    also: List[str]
    targetId: Optional[str]
    allowed: bool
    actor: AssetAccessActor


class AssetAccessActor(TypedDict):
    """Who made the request for the viewer."""

    kind: str
    id: str


class AssetChangedEvent(TypedDict):
    """An asset was created, changed, installed or removed."""

    id: str
    type: Literal["asset.changed"]
    timestamp: str
    workspace_id: str
    data: AssetChangedEventData


class AssetChangedEventData(TypedDict):
    asset_id: str
    vault_id: str
    version: int
    changed_at: str


class AssetDue(TypedDict):
    """What is due on an asset: intervals and open defects."""

    assetId: str
    at: str
    usage: AssetDueUsage
    usageFromParents: AssetDueUsageFromParents
    overdue: bool
    retired: bool
    intervals: List[AssetDueIntervals]
    retiredParts: List[AssetDueRetiredParts]
    withdrawnReleases: List[AssetDueWithdrawnReleases]
    openDefects: List[AssetDueOpenDefects]


class AssetDueUsage(TypedDict):
    hours: float
    cycles: int


class AssetDueUsageFromParents(TypedDict):
    """The part of `usage` that is not stated of the asset itself: what its parents ran."""

    hours: float
    cycles: int


class AssetDueIntervals(TypedDict):
    id: str
    name: str
    kind: Literal["recurring", "life-limit"]
    every: AssetDueIntervalsEvery
    tolerance: AssetDueIntervalsTolerance
    lastDone: AssetDueIntervalsLastDone
    completedBy: Optional[str]
    version: int
    createdAt: str
    updatedAt: str
    countsFrom: AssetDueIntervalsCountsFrom
    nextDue: AssetDueIntervalsNextDue
    latest: AssetDueIntervalsLatest
    remaining: AssetDueIntervalsRemaining
    inTolerance: bool
    overdue: bool


class AssetDueIntervalsEvery(TypedDict):
    days: Optional[int]
    months: Optional[int]
    hours: Optional[float]
    cycles: Optional[int]


class AssetDueIntervalsTolerance(TypedDict):
    days: Optional[int]
    hours: Optional[float]
    cycles: Optional[int]


class AssetDueIntervalsLastDone(TypedDict):
    at: str
    hours: Optional[float]
    cycles: Optional[int]


class AssetDueIntervalsCountsFrom(TypedDict):
    """`lastDone`, or what was due then if the work was done later within the tolerance."""

    at: str
    hours: Optional[float]
    cycles: Optional[int]


class AssetDueIntervalsNextDue(TypedDict):
    at: Optional[str]
    hours: Optional[float]
    cycles: Optional[int]


class AssetDueIntervalsLatest(TypedDict):
    """`nextDue` with the tolerance."""

    at: Optional[str]
    hours: Optional[float]
    cycles: Optional[int]


class AssetDueIntervalsRemaining(TypedDict):
    """Until `nextDue`; negative after it."""

    days: Optional[float]
    hours: Optional[float]
    cycles: Optional[int]


class AssetDueRetiredParts(TypedDict):
    assetId: str
    name: str
    intervalId: str
    limit: str


class AssetDueWithdrawnReleases(TypedDict):
    maintenanceId: str
    summary: str
    correctedBy: str


class AssetDueOpenDefects(TypedDict):
    maintenanceId: str
    summary: str
    performedAt: str
    recordedAt: str
    deferred: bool
    deferredUntil: Optional[str]
    overdue: bool
    repairedBy: Optional[str]


class AssetIntervalsChangedEvent(TypedDict):
    """A maintenance interval of an asset was created, changed, completed or deleted."""

    id: str
    type: Literal["asset.intervals.changed"]
    timestamp: str
    workspace_id: str
    data: AssetIntervalsChangedEventData


class AssetIntervalsChangedEventData(TypedDict):
    asset_id: str
    interval_id: str
    changed_at: str


class AssetMaintenanceDueEvent(TypedDict):
    """Maintenance work on an asset is due, or has been completed; or the asset has reached a life limit."""

    id: str
    type: Literal["asset.maintenance.due"]
    timestamp: str
    workspace_id: str
    data: AssetMaintenanceDueEventData


class AssetMaintenanceDueEventData(TypedDict):
    notice_id: str
    state: Literal["raised", "cleared"]
    since: str
    asset_id: str
    interval_id: str
    name: str
    due_by: Literal["time", "hours", "cycles"]
    life_limit: bool


class AssetPageEndedEvent(TypedDict):
    """A published page of an asset was revoked, or ended because the asset was transferred."""

    id: str
    type: Literal["asset.page.ended"]
    timestamp: str
    workspace_id: str
    data: AssetPageEndedEventData


class AssetPageEndedEventData(TypedDict):
    asset_id: str
    page_id: str
    cause: Literal["revoked", "transferred"]
    ended_at: str


class AssetPagePublishedEvent(TypedDict):
    """A page of an asset was published for everyone who has its link."""

    id: str
    type: Literal["asset.page.published"]
    timestamp: str
    workspace_id: str
    data: AssetPagePublishedEventData


class AssetPagePublishedEventData(TypedDict):
    asset_id: str
    page_id: str
    until: str


class AssetTransfer(TypedDict):
    """A transfer of an asset from one vault to another."""

    id: str
    assetId: str
    fromVaultAddress: str
    toVaultAddress: str
    status: Literal["pending", "batched", "submitted", "confirmed", "finalized"]
    anchor: Optional[AssetTransferAnchor]


class AssetTransferAnchor(TypedDict):
    """Null until it is confirmed."""

    chainId: int
    transactionHash: str
    blockNumber: int
    anchoredAt: str


class AssetTransferCompletedEvent(TypedDict):
    """An asset was transferred to another vault."""

    id: str
    type: Literal["asset.transfer.completed"]
    timestamp: str
    workspace_id: str
    data: AssetTransferCompletedEventData


class AssetTransferCompletedEventData(TypedDict):
    asset_id: str
    from_vault_id: str
    to_vault_id: str
    tx_hash: str
    block_number: int
    transferred_at: str


class AssetVersion(TypedDict):
    """A version of an asset, with the document that was hashed."""

    version: int
    document: Dict[str, Any]
    digest: str
    salt: str
    createdAt: str


class AssetViewer(TypedDict):
    """Someone who may see an asset."""

    address: str
    until: Optional[str]


class AssetWorker(TypedDict):
    """A worker who is assigned to an asset."""

    address: str
    name: str


class AuditEntry(TypedDict):
    """Who did what to which resource, and when."""

    id: str
    workspaceId: str
    at: str
    actor: AuditEntryActor
    action: str
    targetId: str
    requestId: Optional[str]
    details: Dict[str, Any]
    digest: str
    sequence: Optional[int]
    hash: Optional[str]


class AuditEntryActor(TypedDict):
    kind: str
    id: str


class AuditLogProof(TypedDict):
    """The proof of an audit entry, which also covers all entries before it."""

    sequence: int
    content: str
    proof: Proof


class CollectedApiKey(TypedDict):
    """The secret of an approved API key, which is shown only once."""

    id: str
    name: str
    key: str


class CreatedApiKey(TypedDict):
    """The new API key with its secret, which is shown only once."""

    id: str
    name: str
    hint: str
    scopes: List[str]
    createdAt: str
    expiresAt: Optional[str]
    lastUsedAt: Optional[str]
    revokedAt: Optional[str]
    key: str


class CreatedEndpoint(TypedDict):
    """The new endpoint with its signing secret, and the result of the test event."""

    id: str
    url: str
    eventTypes: List[str]
    filter: Optional[str]
    description: str
    enabled: bool
    status: Literal["active", "failing", "disabled"]
    disabledReason: Optional[Literal["owner", "gone", "failing"]]
    rateLimit: Optional[int]
    ordering: Literal["none", "resource"]
    ed25519: bool
    publicKey: Optional[str]
    headerNames: List[str]
    clientCertificate: Optional[CreatedEndpointClientCertificate]
    createdAt: str
    updatedAt: str
    secret: str
    test: EndpointTest


class CreatedEndpointClientCertificate(TypedDict):
    """The client certificate, without its key."""

    subject: str
    issuer: str
    notAfter: str
    fingerprint: str


class CreatedInvitation(TypedDict):
    """The new invitation with its link, which is shown only once."""

    id: str
    email: Optional[str]
    role: Literal["viewer", "developer", "admin", "owner"]
    status: Literal["open", "expired"]
    expiresAt: str
    createdAt: str
    link: str


class CreatedMaintenance(TypedDict):
    """The new entry, stored and waiting to be anchored."""

    assetId: str
    maintenanceId: str
    maintenanceHash: str
    status: Literal["pending", "batched", "submitted", "confirmed", "finalized"]


class CreatedWorker(TypedDict):
    """The new worker."""

    name: str
    address: str


class Delivery(TypedDict):
    """The delivery of an event to an endpoint."""

    id: str
    eventId: str
    endpointId: str
    type: str
    status: Literal["pending", "delivering", "succeeded", "failed", "skipped"]
    createdAt: str
    nextAttemptAt: Optional[str]
    replayId: Optional[str]


class DeliveryWithAttempts(TypedDict):
    """A delivery with its attempts."""

    id: str
    eventId: str
    endpointId: str
    type: str
    status: Literal["pending", "delivering", "succeeded", "failed", "skipped"]
    createdAt: str
    nextAttemptAt: Optional[str]
    replayId: Optional[str]
    envelope: str
    attempts: List[DeliveryWithAttemptsAttempts]


class DeliveryWithAttemptsAttempts(TypedDict):
    number: int
    at: str
    durationMs: int
    statusCode: Optional[int]
    error: Optional[str]
    responseHeaders: Dict[str, str]
    responseBody: str


class Endpoint(TypedDict):
    """A URL to which events are sent."""

    id: str
    url: str
    eventTypes: List[str]
    filter: Optional[str]
    description: str
    enabled: bool
    status: Literal["active", "failing", "disabled"]
    disabledReason: Optional[Literal["owner", "gone", "failing"]]
    rateLimit: Optional[int]
    ordering: Literal["none", "resource"]
    ed25519: bool
    publicKey: Optional[str]
    headerNames: List[str]
    clientCertificate: Optional[EndpointClientCertificate]
    createdAt: str
    updatedAt: str


class EndpointClientCertificate(TypedDict):
    """The client certificate, without its key."""

    subject: str
    issuer: str
    notAfter: str
    fingerprint: str


class EndpointDisabledEvent(TypedDict):
    """A webhook endpoint was disabled because it is gone or failed for too long."""

    id: str
    type: Literal["endpoint.disabled"]
    timestamp: str
    workspace_id: str
    data: EndpointDisabledEventData


class EndpointDisabledEventData(TypedDict):
    endpoint_id: str
    url: str
    reason: Literal["gone", "failing"]
    disabled_at: str


class EndpointFailingEvent(TypedDict):
    """A webhook endpoint is failing, or works again."""

    id: str
    type: Literal["endpoint.failing"]
    timestamp: str
    workspace_id: str
    data: EndpointFailingEventData


class EndpointFailingEventData(TypedDict):
    notice_id: str
    state: Literal["raised", "cleared"]
    since: str
    endpoint_id: str
    disabled: bool


class EndpointTest(TypedDict):
    """The result of a test event."""

    delivered: bool
    statusCode: Optional[int]
    error: Optional[str]
    durationMs: int


class Erasure(TypedDict):
    """What was erased of a record or a file, without its content."""

    kind: Literal["record", "file"]
    subjectId: str
    versions: List[int]
    versionCount: int
    bytes: int
    byRetention: bool
    erasedAt: str
    goneFromBackupsAt: str


class Error(TypedDict):
    """The format of every error."""

    message: str
    errorCode: Literal["invalid_request", "invalid_address", "invalid_date_range", "scope_not_accepted", "invalid_cursor", "password_leaked", "unauthorized", "forbidden", "step_up_required", "second_factor_required", "budget_exceeded", "not_the_signer", "second_person_required", "passkey_required", "passkey_unknown", "passkey_unconfirmed", "passkey_revoked", "passkey_counter", "assertion_mismatch", "assertion_origin", "user_verification_missing", "assertion_invalid", "assertion_replayed", "viewer_not_allowed", "resource_not_found", "method_not_allowed", "request_timeout", "conflict", "on_hold", "signers_key_required", "same_person", "same_licence", "performer_of_corrected", "licence_required", "licence_out_of_scope", "licence_expired", "licence_suspended", "licence_not_yet_valid", "inspection_required", "inspector_not_independent", "vault_deactivated", "idempotency_in_progress", "precondition_failed", "payload_too_large", "unsupported_media_type", "range_not_satisfiable", "idempotency_key_reused", "rate_limit_exceeded", "rate_limited", "headers_too_large", "internal_error", "service_unavailable"]
    docUrl: str
    timestamp: str


class Event(TypedDict):
    """An event, as delivered by the feed and by webhooks."""

    id: str
    type: str
    timestamp: str
    workspace_id: str
    data: Dict[str, Any]


class File(TypedDict):
    """A version of a file."""

    id: str
    vaultId: str
    vaultAddress: str
    name: str
    version: int
    contentHash: str
    size: Optional[int]
    mediaType: str
    status: Literal["pending", "batched", "submitted", "confirmed", "finalized"]
    expirationDate: Optional[str]
    expired: bool
    erased: bool
    createdAt: str
    anchor: Optional[FileAnchor]


class FileAnchor(TypedDict):
    """Null until it is confirmed."""

    chainId: int
    transactionHash: str
    blockNumber: int
    anchoredAt: str


class FileAnchorConfirmedEvent(TypedDict):
    """A file version was confirmed on the chain."""

    id: str
    type: Literal["file.anchor.confirmed"]
    timestamp: str
    workspace_id: str
    data: FileAnchorConfirmedEventData


class FileAnchorConfirmedEventData(TypedDict):
    file_id: str
    vault_id: str
    version: int
    tx_hash: str
    block_number: int
    anchored_at: str


class FileHistoryItem(TypedDict):
    """A version, a transfer or a validation in the history of a file."""

    type: Literal["version", "transfer", "validation"]
    at: str
    id: Optional[str]
    version: int
    vaultAddress: str
    toVaultAddress: Optional[str]
    contentHash: str
    name: Optional[str]
    result: Optional[Literal["valid", "invalid"]]
    status: Literal["pending", "batched", "submitted", "confirmed", "finalized"]
    anchor: Optional[FileHistoryItemAnchor]
    proof: Optional[Dict[str, Any]]


class FileHistoryItemAnchor(TypedDict):
    """Null until it is confirmed."""

    chainId: int
    transactionHash: str
    blockNumber: int
    anchoredAt: str


class FileTransfer(TypedDict):
    """A transfer of a file from one vault to another."""

    id: str
    fileId: str
    fromVaultAddress: str
    toVaultAddress: str
    status: Literal["pending", "batched", "submitted", "confirmed", "finalized"]
    anchor: Optional[FileTransferAnchor]


class FileTransferAnchor(TypedDict):
    """Null until it is confirmed."""

    chainId: int
    transactionHash: str
    blockNumber: int
    anchoredAt: str


class FileTransferCompletedEvent(TypedDict):
    """A file was transferred to another vault."""

    id: str
    type: Literal["file.transfer.completed"]
    timestamp: str
    workspace_id: str
    data: FileTransferCompletedEventData


class FileTransferCompletedEventData(TypedDict):
    file_id: str
    from_vault_id: str
    to_vault_id: str
    version: int
    tx_hash: str
    block_number: int
    transferred_at: str


class FileValidation(TypedDict):
    """A validation of a file, and its result."""

    id: str
    fileId: str
    version: int
    status: Literal["pending", "completed"]
    result: Optional[Literal["valid", "invalid"]]
    integrity: Optional[bool]
    authenticity: Optional[bool]
    ownership: Optional[bool]
    validatedAt: Optional[str]


class FileValidationCompletedEvent(TypedDict):
    """The validation of a file was completed."""

    id: str
    type: Literal["file.validation.completed"]
    timestamp: str
    workspace_id: str
    data: FileValidationCompletedEventData


class FileValidationCompletedEventData(TypedDict):
    file_id: str
    vault_id: str
    version: int
    validation_id: str
    result: Literal["valid", "invalid"]
    integrity: bool
    authenticity: bool
    ownership: bool
    validated_at: str


class FoundMaintenance(TypedDict):
    """The hash of the entry, and the chain it is anchored on."""

    chainId: int
    maintenance: FoundMaintenanceMaintenance


class FoundMaintenanceMaintenance(TypedDict):
    assetId: str
    maintenanceId: str
    maintenanceHash: str


class Hold(TypedDict):
    """A legal hold."""

    subjectId: str
    held: bool
    reason: str
    placedAt: Optional[str]


class Installation(TypedDict):
    """A period during which an asset is installed in another one."""

    assetId: str
    parentAssetId: str
    installedAt: str
    removedAt: Optional[str]


class Interval(TypedDict):
    """Maintenance work that recurs."""

    id: str
    name: str
    kind: Literal["recurring", "life-limit"]
    every: IntervalEvery
    tolerance: IntervalTolerance
    lastDone: IntervalLastDone
    completedBy: Optional[str]
    version: int
    createdAt: str
    updatedAt: str


class IntervalEvery(TypedDict):
    days: Optional[int]
    months: Optional[int]
    hours: Optional[float]
    cycles: Optional[int]


class IntervalTolerance(TypedDict):
    days: Optional[int]
    hours: Optional[float]
    cycles: Optional[int]


class IntervalLastDone(TypedDict):
    at: str
    hours: Optional[float]
    cycles: Optional[int]


class Invitation(TypedDict):
    """An invitation to the workspace."""

    id: str
    email: Optional[str]
    role: Literal["viewer", "developer", "admin", "owner"]
    status: Literal["open", "expired"]
    expiresAt: str
    createdAt: str


class InvitationPreview(TypedDict):
    """What an invitation is for."""

    workspaceId: str
    workspaceName: str
    email: Optional[str]
    role: Literal["viewer", "developer", "admin", "owner"]
    newAccount: Optional[bool]


class MadePortalLink(TypedDict):
    """A new portal link, which is shown only once."""

    id: str
    description: str
    mayChangeUrl: bool
    mayManageSecret: bool
    createdAt: str
    expiresAt: str
    lastUsedAt: Optional[str]
    link: str


class Maintenance(TypedDict):
    """A maintenance entry, without its data."""

    assetId: str
    maintenanceId: str
    maintenanceHash: str
    number: int
    type: str
    summary: str
    performedAt: str
    recordedAt: str
    workerAddress: str
    workerName: str
    status: Literal["pending", "batched", "submitted", "confirmed", "finalized"]
    anchor: Optional[MaintenanceAnchor]
    signoffs: List[Signoff]
    supersedes: Optional[str]
    supersededBy: Optional[str]
    release: Literal["none", "released", "withdrawn"]


class MaintenanceAnchor(TypedDict):
    """Null until it is confirmed."""

    chainId: int
    transactionHash: str
    blockNumber: int
    anchoredAt: str


class MaintenanceAnchorConfirmedEvent(TypedDict):
    """A maintenance entry was confirmed on the chain."""

    id: str
    type: Literal["maintenance.anchor.confirmed"]
    timestamp: str
    workspace_id: str
    data: MaintenanceAnchorConfirmedEventData


class MaintenanceAnchorConfirmedEventData(TypedDict):
    asset_id: str
    maintenance_id: str
    vault_id: str
    tx_hash: str
    block_number: int
    anchored_at: str


class MaintenanceDetails(TypedDict):
    """A maintenance entry with all its details."""

    assetId: str
    maintenanceId: str
    maintenanceHash: str
    number: int
    type: str
    summary: str
    performedAt: str
    recordedAt: str
    workerAddress: str
    workerName: str
    status: Literal["pending", "batched", "submitted", "confirmed", "finalized"]
    anchor: Optional[MaintenanceDetailsAnchor]
    signoffs: List[Signoff]
    supersedes: Optional[str]
    supersededBy: Optional[str]
    release: Literal["none", "released", "withdrawn"]
    data: Dict[str, Any]
    files: List[MaintenanceDetailsFiles]
    entry: Dict[str, Any]


class MaintenanceDetailsAnchor(TypedDict):
    """Null until it is confirmed."""

    chainId: int
    transactionHash: str
    blockNumber: int
    anchoredAt: str


class MaintenanceDetailsFiles(TypedDict):
    fileId: str
    version: int
    name: str
    contentHash: str
    canonicalization: str


class MaintenanceReleaseWithdrawnEvent(TypedDict):
    """A certified maintenance entry was corrected: what it released waits for the correction to be certified."""

    id: str
    type: Literal["maintenance.release.withdrawn"]
    timestamp: str
    workspace_id: str
    data: MaintenanceReleaseWithdrawnEventData


class MaintenanceReleaseWithdrawnEventData(TypedDict):
    asset_id: str
    maintenance_id: str
    corrected_by: str
    withdrawn_at: str


class Me(TypedDict):
    """The person who is signed in, and the workspaces they belong to."""

    id: str
    name: str
    email: str
    twoFactor: bool
    workspaceId: str
    role: Literal["viewer", "developer", "admin", "owner"]
    workspaces: List[Workspace]
    provedBy: List[Literal["password", "code", "passkey", "provider"]]
    lacksSecondFactor: bool
    mayCreateWorkspaces: bool


class Member(TypedDict):
    """A member of the workspace."""

    id: str
    name: str
    email: str
    role: Literal["viewer", "developer", "admin", "owner"]
    twoFactor: bool
    joinedAt: str


class MovedEndpoint(TypedDict):
    """The endpoint with its new URL, and the result of the test event."""

    url: str
    eventTypes: List[str]
    status: Literal["active", "failing", "disabled"]
    disabledReason: Optional[Literal["owner", "gone", "failing"]]
    publicKey: Optional[str]
    test: EndpointTest


class NeedsApproval(TypedDict):
    """A second person has to approve it; nothing was done yet."""

    approval: NeedsApprovalApproval


class NeedsApprovalApproval(TypedDict):
    id: str
    expiresAt: str


class NewPublishedPage(TypedDict):
    """A page of an asset that was just published, with its link."""

    id: str
    until: str
    show: List[Literal["name", "assetId", "serialNumber", "partNumber", "usage", "state", "installedIn", "owner", "organisation"]]
    entries: Optional[NewPublishedPageEntries]
    digitalLink: Optional[str]
    createdAt: str
    link: str


class NewPublishedPageEntries(TypedDict):
    """Null: no entries."""

    types: Optional[List[str]]
    maintenanceIds: Optional[List[str]]
    show: List[Literal["type", "summary", "performedAt", "recordedAt", "workers", "data", "files", "fileContents", "release", "signoffs", "licences", "proof", "documents"]]


class Notice(TypedDict):
    """Something that needs attention, or needed it."""

    id: str
    type: Literal["endpoint.failing", "api_key.expiring", "approval.waiting", "asset.maintenance.due", "worker.licence.expiring", "operator.gas.low", "operator.chain.behind", "operator.loop.failing", "operator.disk.low", "operator.budget.near"]
    state: Literal["raised", "cleared"]
    title: str
    advice: str
    path: str
    since: str
    raisedAt: str
    clearedAt: Optional[str]
    data: Dict[str, Any]


class NoticeMail(TypedDict):
    """Whether you get mail about the notices of this workspace."""

    wanted: bool
    configured: bool


class OpenPasskeyRegistration(TypedDict):
    """What a link asks a worker to sign of another passkey."""

    workspaceName: str
    workerName: str
    confirmedBy: str
    code: str
    message: OpenPasskeyRegistrationMessage
    passkey: OpenPasskeyRegistrationPasskey
    expiresAt: str


class OpenPasskeyRegistrationMessage(TypedDict):
    """The message of the typed data, of which the digest is the challenge."""

    format: str
    workspaceId: str
    workerId: str
    workerAddress: str
    workerName: str
    number: int
    vault: str
    credentialId: str
    publicKey: str
    rpId: str
    attestation: OpenPasskeyRegistrationMessageAttestation
    invitedBy: str
    invitedWith: str
    registeredAt: str
    confirmedBy: str
    confirmedAt: str
    signedWith: str


class OpenPasskeyRegistrationMessageAttestation(TypedDict):
    format: str
    aaguid: str
    object: str
    clientDataJSON: str


class OpenPasskeyRegistrationPasskey(TypedDict):
    """PublicKeyCredentialRequestOptionsJSON of WebAuthn, without the challenge."""

    rpId: str
    allowCredentials: List[OpenPasskeyRegistrationPasskeyAllowCredentials]
    userVerification: str


class OpenPasskeyRegistrationPasskeyAllowCredentials(TypedDict):
    type: str
    id: str


class OpenPortal(TypedDict):
    """What a portal link shows of its endpoint, and what its holder may do."""

    url: str
    eventTypes: List[str]
    status: Literal["active", "failing", "disabled"]
    disabledReason: Optional[Literal["owner", "gone", "failing"]]
    publicKey: Optional[str]
    mayChangeUrl: bool
    mayManageSecret: bool
    expiresAt: str


class OpenSignRequest(TypedDict):
    """What a link asks a worker to sign."""

    workspaceName: str
    requestedBy: Optional[str]
    workerName: str
    assetName: str
    entry: OpenSignRequestEntry
    statement: str
    message: OpenSignRequestMessage
    passkey: OpenSignRequestPasskey
    now: str
    expiresAt: str


class OpenSignRequestEntry(TypedDict):
    type: str
    summary: str
    performedAt: str
    workerName: str
    files: List[OpenSignRequestEntryFiles]
    signoffs: List[OpenSignRequestEntrySignoffs]


class OpenSignRequestEntryFiles(TypedDict):
    fileId: str
    name: str


class OpenSignRequestEntrySignoffs(TypedDict):
    role: Literal["performed", "inspected", "certified"]
    workerName: str
    signedAt: str


class OpenSignRequestMessage(TypedDict):
    """The message of the typed data without `signedAt`, which the device adds: the digest of all of it is the challenge."""

    format: str
    workspaceId: str
    assetId: str
    maintenanceId: str
    maintenanceHash: str
    role: Literal["performed", "inspected", "certified"]
    workerAddress: str
    workerName: str
    licence: List[OpenSignRequestMessageLicence]
    signedWith: OpenSignRequestMessageSignedWith
    release: List[OpenSignRequestMessageRelease]


class OpenSignRequestMessageLicence(TypedDict):
    category: str
    scope: str
    number: str
    authority: str
    validFrom: str
    expiresAt: str
    suspendedAt: str


class OpenSignRequestMessageSignedWith(TypedDict):
    method: str
    apiKeyId: str


class OpenSignRequestMessageRelease(TypedDict):
    organisation: List[OpenSignRequestMessageReleaseOrganisation]
    asset: OpenSignRequestMessageReleaseAsset


class OpenSignRequestMessageReleaseOrganisation(TypedDict):
    name: str
    address: str
    authority: str
    approvalNumber: str
    regulation: str


class OpenSignRequestMessageReleaseAsset(TypedDict):
    version: int
    name: str
    partNumber: str
    serialNumber: str


class OpenSignRequestPasskey(TypedDict):
    """PublicKeyCredentialRequestOptionsJSON of WebAuthn, without the challenge."""

    rpId: str
    allowCredentials: List[OpenSignRequestPasskeyAllowCredentials]
    userVerification: str


class OpenSignRequestPasskeyAllowCredentials(TypedDict):
    type: str
    id: str


class OperatorBudgetNearEvent(TypedDict):
    """Default workspace only: a workspace has used nine tenths of a budget, or is below that again."""

    id: str
    type: Literal["operator.budget.near"]
    timestamp: str
    workspace_id: str
    data: OperatorBudgetNearEventData


class OperatorBudgetNearEventData(TypedDict):
    notice_id: str
    state: Literal["raised", "cleared"]
    since: str
    of_workspace_id: str
    budget: str
    used: int
    limit: int


class OperatorChainBehindEvent(TypedDict):
    """Default workspace only: anchoring or the chain falls behind, or has caught up."""

    id: str
    type: Literal["operator.chain.behind"]
    timestamp: str
    workspace_id: str
    data: OperatorChainBehindEventData


class OperatorChainBehindEventData(TypedDict):
    notice_id: str
    state: Literal["raised", "cleared"]
    since: str
    trouble: Literal["no_leader", "anchoring_late", "batch_set_aside", "transaction_stuck", "fees_above_cap", "nonce_taken", "indexer_behind", "chain_stands_still"]


class OperatorDiskLowEvent(TypedDict):
    """Default workspace only: a node has little free disk space, or has enough again."""

    id: str
    type: Literal["operator.disk.low"]
    timestamp: str
    workspace_id: str
    data: OperatorDiskLowEventData


class OperatorDiskLowEventData(TypedDict):
    notice_id: str
    state: Literal["raised", "cleared"]
    since: str
    node: str
    free_bytes: int


class OperatorGasLowEvent(TypedDict):
    """Default workspace only: the account that pays for anchors runs out of funds, or was funded."""

    id: str
    type: Literal["operator.gas.low"]
    timestamp: str
    workspace_id: str
    data: OperatorGasLowEventData


class OperatorGasLowEventData(TypedDict):
    notice_id: str
    state: Literal["raised", "cleared"]
    since: str
    account: str
    balance_wei: str
    anchors_left: int


class OperatorLoopFailingEvent(TypedDict):
    """Default workspace only: a background loop fails or is late, or works again."""

    id: str
    type: Literal["operator.loop.failing"]
    timestamp: str
    workspace_id: str
    data: OperatorLoopFailingEventData


class OperatorLoopFailingEventData(TypedDict):
    notice_id: str
    state: Literal["raised", "cleared"]
    since: str
    loop: str
    how: Literal["failing", "stuck", "late"]


class Organisation(TypedDict):
    """In whose name work is released. The service shows it as stated, and does not check it."""

    name: str
    address: str
    authority: str
    approvalNumber: str
    regulation: str


class Passkey(TypedDict):
    """A passkey with which you sign in."""

    id: str
    name: str
    createdAt: str
    lastUsedAt: Optional[str]


class PasskeyRegistrationLink(TypedDict):
    """A link by which a worker signs, with a passkey that they have, that another one is theirs."""

    token: str
    link: str
    expiresAt: str


class PasskeyRegistrationRequest(TypedDict):
    """EIP-712 data by which a worker says that a passkey is theirs."""

    domain: PasskeyRegistrationRequestDomain
    types: PasskeyRegistrationRequestTypes
    primaryType: str
    message: PasskeyRegistrationRequestMessage
    passkey: Optional[PasskeyRegistrationRequestPasskey]


class PasskeyRegistrationRequestDomain(TypedDict):
    name: str
    version: str


class PasskeyRegistrationRequestTypes(TypedDict):
    EIP712Domain: List[PasskeyRegistrationRequestTypesEIP712Domain]
    PasskeyRegistration: List[PasskeyRegistrationRequestTypesPasskeyRegistration]
    Attestation: List[PasskeyRegistrationRequestTypesAttestation]


class PasskeyRegistrationRequestTypesEIP712Domain(TypedDict):
    name: str
    type: str


class PasskeyRegistrationRequestTypesPasskeyRegistration(TypedDict):
    name: str
    type: str


class PasskeyRegistrationRequestTypesAttestation(TypedDict):
    name: str
    type: str


class PasskeyRegistrationRequestMessage(TypedDict):
    format: str
    workspaceId: str
    workerId: str
    workerAddress: str
    workerName: str
    number: int
    vault: str
    credentialId: str
    publicKey: str
    rpId: str
    attestation: PasskeyRegistrationRequestMessageAttestation
    invitedBy: str
    invitedWith: str
    registeredAt: str
    confirmedBy: str
    confirmedAt: str
    signedWith: str


class PasskeyRegistrationRequestMessageAttestation(TypedDict):
    format: str
    aaguid: str
    object: str
    clientDataJSON: str


class PasskeyRegistrationRequestPasskey(TypedDict):
    """For a worker who signs with a passkey: PublicKeyCredentialRequestOptionsJSON of WebAuthn, with the EIP-712 digest as challenge."""

    challenge: str
    rpId: str
    allowCredentials: List[PasskeyRegistrationRequestPasskeyAllowCredentials]
    userVerification: str


class PasskeyRegistrationRequestPasskeyAllowCredentials(TypedDict):
    type: str
    id: str


class PasskeyStatement(TypedDict):
    """That a passkey is the worker’s, or no longer; it is anchored."""

    number: int
    hash: str
    status: Literal["pending", "batched", "submitted", "confirmed", "finalized"]
    anchor: Optional[PasskeyStatementAnchor]
    document: Dict[str, Any]


class PasskeyStatementAnchor(TypedDict):
    """Null until it is confirmed."""

    chainId: int
    transactionHash: str
    blockNumber: int
    anchoredAt: str


class PortalDelivery(TypedDict):
    """A delivery to the endpoint of a portal link."""

    id: str
    eventId: str
    type: str
    status: Literal["pending", "delivering", "succeeded", "failed", "skipped"]
    createdAt: str
    nextAttemptAt: Optional[str]


class PortalDeliveryWithAttempts(TypedDict):
    """A delivery to the endpoint of a portal link, with its attempts."""

    id: str
    eventId: str
    type: str
    status: Literal["pending", "delivering", "succeeded", "failed", "skipped"]
    createdAt: str
    nextAttemptAt: Optional[str]
    envelope: str
    attempts: List[PortalDeliveryWithAttemptsAttempts]


class PortalDeliveryWithAttemptsAttempts(TypedDict):
    number: int
    at: str
    durationMs: int
    statusCode: Optional[int]
    error: Optional[str]
    responseHeaders: Dict[str, str]
    responseBody: str


class PortalLink(TypedDict):
    """A link that shows one endpoint to somebody without an account."""

    id: str
    description: str
    mayChangeUrl: bool
    mayManageSecret: bool
    createdAt: str
    expiresAt: str
    lastUsedAt: Optional[str]


class PublishedPage(TypedDict):
    """A page of an asset for everyone who has its link."""

    id: str
    until: str
    show: List[Literal["name", "assetId", "serialNumber", "partNumber", "usage", "state", "installedIn", "owner", "organisation"]]
    entries: Optional[PublishedPageEntries]
    digitalLink: Optional[str]
    createdAt: str


class PublishedPageEntries(TypedDict):
    """Null: no entries."""

    types: Optional[List[str]]
    maintenanceIds: Optional[List[str]]
    show: List[Literal["type", "summary", "performedAt", "recordedAt", "workers", "data", "files", "fileContents", "release", "signoffs", "licences", "proof", "documents"]]


class Readiness(TypedDict):
    """Whether the service is ready, and what it is waiting for."""

    ready: bool
    database: Literal["up", "away"]
    blobs: Literal["up", "away", "foreign"]
    loops: Dict[str, str]


class Record(TypedDict):
    """A version of a record, without its data."""

    id: str
    externalId: str
    vaultId: str
    vaultAddress: str
    version: int
    dataHash: str
    erased: bool
    status: Literal["pending", "batched", "submitted", "confirmed", "finalized"]
    createdAt: str
    anchor: Optional[RecordAnchor]


class RecordAnchor(TypedDict):
    """Null until it is confirmed."""

    chainId: int
    transactionHash: str
    blockNumber: int
    anchoredAt: str


class RecordAnchorConfirmedEvent(TypedDict):
    """A record version was confirmed on the chain."""

    id: str
    type: Literal["record.anchor.confirmed"]
    timestamp: str
    workspace_id: str
    data: RecordAnchorConfirmedEventData


class RecordAnchorConfirmedEventData(TypedDict):
    record_id: str
    vault_id: str
    version: int
    tx_hash: str
    block_number: int
    anchored_at: str


class RecordErasure(TypedDict):
    """What was erased of a record, and when the last copy is gone."""

    recordId: str
    versions: List[int]
    bytes: int
    erasedAt: str
    goneFromBackupsAt: str


class RecordWithData(TypedDict):
    """A version of a record, with its data."""

    id: str
    externalId: str
    vaultId: str
    vaultAddress: str
    version: int
    dataHash: str
    erased: bool
    status: Literal["pending", "batched", "submitted", "confirmed", "finalized"]
    createdAt: str
    anchor: Optional[RecordWithDataAnchor]
    data: Dict[str, Any]


class RecordWithDataAnchor(TypedDict):
    """Null until it is confirmed."""

    chainId: int
    transactionHash: str
    blockNumber: int
    anchoredAt: str


class RegisteredPasskey(TypedDict):
    """A passkey that a second person has yet to confirm."""

    id: str
    code: str


class Replay(TypedDict):
    """A replay of past events to an endpoint, and its progress."""

    id: str
    endpointId: str
    status: Literal["running", "paused", "completed", "cancelled"]
    range: ReplayRange
    total: int
    enqueued: int
    succeeded: int
    failed: int
    skipped: int
    createdAt: str
    finishedAt: Optional[str]


ReplayRange = TypedDict(
    "ReplayRange",
    {
        "from": "str",
        "to": "str",
        "status": "Optional[str]",
        "types": "List[str]",
    },
)


class Retention(TypedDict):
    """How long a vault keeps data and content."""

    recordDays: Optional[int]
    fileDays: Optional[int]
    erased: int
    erasedBytes: int


class RetentionPreview(TypedDict):
    """What the retention of a vault would erase now."""

    records: int
    files: int
    bytes: int
    held: int
    more: bool


class SavedEndpoint(TypedDict):
    """The endpoint, and the result of the test event if one was sent."""

    id: str
    url: str
    eventTypes: List[str]
    filter: Optional[str]
    description: str
    enabled: bool
    status: Literal["active", "failing", "disabled"]
    disabledReason: Optional[Literal["owner", "gone", "failing"]]
    rateLimit: Optional[int]
    ordering: Literal["none", "resource"]
    ed25519: bool
    publicKey: Optional[str]
    headerNames: List[str]
    clientCertificate: Optional[SavedEndpointClientCertificate]
    createdAt: str
    updatedAt: str
    test: Optional[SavedEndpointTest]


class SavedEndpointClientCertificate(TypedDict):
    """The client certificate, without its key."""

    subject: str
    issuer: str
    notAfter: str
    fingerprint: str


class SavedEndpointTest(TypedDict):
    """The result of a test event."""

    delivered: bool
    statusCode: Optional[int]
    error: Optional[str]
    durationMs: int


class Session(TypedDict):
    """A browser in which you are signed in."""

    id: str
    current: bool
    address: Optional[str]
    userAgent: Optional[str]
    createdAt: str
    lastSeenAt: str
    expiresAt: str


class SignInRules(TypedDict):
    """What the workspace asks of the sign-in of its members."""

    requireSecondFactor: bool


class SignLink(TypedDict):
    """A link that can still be signed by, without the link itself."""

    id: str
    workerAddress: str
    workerName: str
    role: Literal["performed", "inspected", "certified"]
    requestedBy: Optional[str]
    createdAt: str
    expiresAt: str


class SignRequest(TypedDict):
    """A link by which a worker signs an entry on their own device."""

    id: str
    token: str
    link: str
    expiresAt: str


class Signoff(TypedDict):
    """A sign-off of a maintenance entry."""

    number: int
    role: Literal["performed", "inspected", "certified"]
    workerAddress: str
    workerName: str
    licence: Optional[SignoffLicence]
    signedAt: str
    receivedAt: Optional[str]
    signedWith: Literal["own-key", "held-key", "passkey"]
    statement: str
    signature: str
    signoffHash: str
    status: Literal["pending", "batched", "submitted", "confirmed", "finalized"]
    anchor: Optional[SignoffAnchor]


class SignoffLicence(TypedDict):
    """The licence used, as it was at that time; null if none was needed."""

    category: Optional[str]
    scope: str
    number: str
    authority: str
    validFrom: Optional[str]
    expiresAt: Optional[str]
    suspendedAt: Optional[str]


class SignoffAnchor(TypedDict):
    """Null until it is confirmed."""

    chainId: int
    transactionHash: str
    blockNumber: int
    anchoredAt: str


class SignoffRequest(TypedDict):
    """EIP-712 data that a worker signs with their own key."""

    domain: SignoffRequestDomain
    types: SignoffRequestTypes
    primaryType: str
    message: SignoffRequestMessage
    signedAt: str
    expiresAt: str
    passkey: Optional[SignoffRequestPasskey]


class SignoffRequestDomain(TypedDict):
    name: str
    version: str


class SignoffRequestTypes(TypedDict):
    EIP712Domain: List[SignoffRequestTypesEIP712Domain]
    Signoff: List[SignoffRequestTypesSignoff]
    Licence: List[SignoffRequestTypesLicence]
    SignedWith: List[SignoffRequestTypesSignedWith]
    Release: List[SignoffRequestTypesRelease]
    Organisation: List[SignoffRequestTypesOrganisation]
    Asset: List[SignoffRequestTypesAsset]


class SignoffRequestTypesEIP712Domain(TypedDict):
    name: str
    type: str


class SignoffRequestTypesSignoff(TypedDict):
    name: str
    type: str


class SignoffRequestTypesLicence(TypedDict):
    name: str
    type: str


class SignoffRequestTypesSignedWith(TypedDict):
    name: str
    type: str


class SignoffRequestTypesRelease(TypedDict):
    name: str
    type: str


class SignoffRequestTypesOrganisation(TypedDict):
    name: str
    type: str


class SignoffRequestTypesAsset(TypedDict):
    name: str
    type: str


class SignoffRequestMessage(TypedDict):
    format: str
    workspaceId: str
    assetId: str
    maintenanceId: str
    maintenanceHash: str
    role: Literal["performed", "inspected", "certified"]
    workerAddress: str
    workerName: str
    licence: List[SignoffRequestMessageLicence]
    signedWith: SignoffRequestMessageSignedWith
    release: List[SignoffRequestMessageRelease]
    signedAt: str


class SignoffRequestMessageLicence(TypedDict):
    category: str
    scope: str
    number: str
    authority: str
    validFrom: str
    expiresAt: str
    suspendedAt: str


class SignoffRequestMessageSignedWith(TypedDict):
    method: str
    apiKeyId: str


class SignoffRequestMessageRelease(TypedDict):
    organisation: List[SignoffRequestMessageReleaseOrganisation]
    asset: SignoffRequestMessageReleaseAsset


class SignoffRequestMessageReleaseOrganisation(TypedDict):
    name: str
    address: str
    authority: str
    approvalNumber: str
    regulation: str


class SignoffRequestMessageReleaseAsset(TypedDict):
    version: int
    name: str
    partNumber: str
    serialNumber: str


class SignoffRequestPasskey(TypedDict):
    """For a worker who signs with a passkey: PublicKeyCredentialRequestOptionsJSON of WebAuthn, with the EIP-712 digest as challenge."""

    challenge: str
    rpId: str
    allowCredentials: List[SignoffRequestPasskeyAllowCredentials]
    userVerification: str


class SignoffRequestPasskeyAllowCredentials(TypedDict):
    type: str
    id: str


class SignoffRules(TypedDict):
    """What a workspace requires of sign-offs."""

    ownKey: List[Literal["performed", "inspected", "certified"]]


class SignoffWithDocument(TypedDict):
    """A sign-off with the document that was hashed."""

    number: int
    role: Literal["performed", "inspected", "certified"]
    workerAddress: str
    workerName: str
    licence: Optional[SignoffWithDocumentLicence]
    signedAt: str
    receivedAt: Optional[str]
    signedWith: Literal["own-key", "held-key", "passkey"]
    statement: str
    signature: str
    signoffHash: str
    status: Literal["pending", "batched", "submitted", "confirmed", "finalized"]
    anchor: Optional[SignoffWithDocumentAnchor]
    document: Dict[str, Any]


class SignoffWithDocumentLicence(TypedDict):
    """The licence used, as it was at that time; null if none was needed."""

    category: Optional[str]
    scope: str
    number: str
    authority: str
    validFrom: Optional[str]
    expiresAt: Optional[str]
    suspendedAt: Optional[str]


class SignoffWithDocumentAnchor(TypedDict):
    """Null until it is confirmed."""

    chainId: int
    transactionHash: str
    blockNumber: int
    anchoredAt: str


class Stats(TypedDict):
    """Statistics of the workspace for the chosen period."""

    bucketSeconds: int
    buckets: List[StatsBuckets]
    waiting: StatsWaiting
    chain: Optional[StatsChain]
    clocks: StatsClocks


class StatsBuckets(TypedDict):
    at: str
    anchored: int
    anchorMsP50: Optional[int]
    anchorMsP95: Optional[int]
    delivered: int
    failed: int
    skipped: int


class StatsWaiting(TypedDict):
    anchors: int
    deliveries: int
    oldestDeliveryAt: Optional[str]
    failingEndpoints: int
    disabledEndpoints: int
    setAsideBatches: int


class StatsChain(TypedDict):
    chainId: int
    embedded: bool
    indexedBlock: Optional[int]
    indexedAt: Optional[str]
    headBlock: Optional[int]
    balanceWei: Optional[str]
    anchorsLeft: Optional[int]


class StatsClocks(TypedDict):
    """Who vouches for the time of batches besides the chain."""

    authorities: List[StatsClocksAuthorities]
    openTimestamps: Optional[StatsClocksOpenTimestamps]


class StatsClocksAuthorities(TypedDict):
    name: str
    lastTokenAt: Optional[str]
    awaySince: Optional[str]


class StatsClocksOpenTimestamps(TypedDict):
    pending: int
    unchecked: int


Transaction = TypedDict(
    "Transaction",
    {
        "hash": "str",
        "from": "str",
        "to": "str",
        "value": "str",
        "timestamp": "str",
    },
)


class Usage(TypedDict):
    """The budgets of the workspace, and how much of each is used."""

    budgets: List[UsageBudgets]


class UsageBudgets(TypedDict):
    name: Literal["requests_per_minute", "stored_bytes", "endpoints", "filter_characters", "streams", "exports", "anchors_per_day", "api_keys"]
    limit: Optional[int]
    used: int
    resetsAt: Optional[str]
    perNode: bool


class Vault(TypedDict):
    """A wallet whose private key the service holds."""

    id: str
    name: str
    description: str
    address: str
    walletAddress: str
    status: Literal["active", "inactive"]
    createdAt: str
    updatedAt: str


class VaultDeactivatedEvent(TypedDict):
    """A vault was deactivated."""

    id: str
    type: Literal["vault.deactivated"]
    timestamp: str
    workspace_id: str
    data: VaultDeactivatedEventData


class VaultDeactivatedEventData(TypedDict):
    vault_id: str
    address: str
    deactivated_at: str


class VaultReactivatedEvent(TypedDict):
    """A vault was reactivated."""

    id: str
    type: Literal["vault.reactivated"]
    timestamp: str
    workspace_id: str
    data: VaultReactivatedEventData


class VaultReactivatedEventData(TypedDict):
    vault_id: str
    address: str
    reactivated_at: str


class WorkRules(TypedDict):
    """What sign-offs need, by the type of work."""

    rules: List[WorkRulesRules]


class WorkRulesRules(TypedDict):
    type: str
    scope: str
    categories: List[str]
    critical: bool


class Worker(TypedDict):
    """Someone who performs and signs maintenance work."""

    id: str
    name: str
    address: str
    keyHolder: Literal["service", "worker", "passkey"]
    licences: List[WorkerLicences]
    userId: Optional[str]
    identity: str
    createdAt: str
    updatedAt: str


class WorkerLicences(TypedDict):
    scope: str
    number: str
    authority: str
    category: Optional[str]
    validFrom: Optional[str]
    expiresAt: Optional[str]
    suspendedAt: Optional[str]


class WorkerInvitation(TypedDict):
    """A link by which a worker registers a passkey, once."""

    id: str
    token: str
    link: str
    expiresAt: str


class WorkerLicenceExpiringEvent(TypedDict):
    """A licence of a worker expires within 30 days or has expired, or was renewed or removed."""

    id: str
    type: Literal["worker.licence.expiring"]
    timestamp: str
    workspace_id: str
    data: WorkerLicenceExpiringEventData


class WorkerLicenceExpiringEventData(TypedDict):
    notice_id: str
    state: Literal["raised", "cleared"]
    since: str
    worker_id: str
    address: str
    scope: str
    number: str
    expires_at: str


class WorkerPasskey(TypedDict):
    """A passkey with which a worker signs."""

    id: str
    state: Literal["unconfirmed", "unsigned", "active", "refused", "revoked"]
    rpId: str
    registrationNumber: Optional[int]
    createdAt: str


class WorkerPasskeyOptions(TypedDict):
    """What a browser needs to make a passkey for a worker."""

    workerName: str
    workerAddress: str
    workspaceName: str
    invitedBy: str
    expiresAt: str
    options: Dict[str, Any]


class Workspace(TypedDict):
    """A workspace."""

    id: str
    name: str
    slug: str
    role: Literal["viewer", "developer", "admin", "owner"]


class GetLivenessResult(TypedDict):
    """The process is alive."""

    status: Literal["ok"]


class _CreateRecordsRecordsRequired(TypedDict):
    data: Dict[str, Any]


class CreateRecordsRecords(_CreateRecordsRecordsRequired, total=False):
    externalId: str


class EraseFileContentResult(TypedDict):
    """The content can no longer be downloaded, but its bytes remain because another file has the same content."""

    message: str
    keptVersions: List[int]


class _UpdateWorkerLicencesRequired(TypedDict):
    scope: str
    number: str
    authority: str


class UpdateWorkerLicences(_UpdateWorkerLicencesRequired, total=False):
    category: Optional[str]
    validFrom: Optional[str]
    expiresAt: Optional[str]
    suspendedAt: Optional[str]


class CreateAssetUsage(TypedDict, total=False):
    hours: float
    cycles: int


class UpdateAssetUsage(TypedDict, total=False):
    hours: float
    cycles: int


class VerifyAssetViewerResult(TypedDict):
    """Whether the address may see the asset."""

    isViewer: bool


class CreateAssetIntervalEvery(TypedDict, total=False):
    """Set at least one; the one that is reached first counts."""

    days: int
    months: int
    hours: float
    cycles: int


class CreateAssetIntervalTolerance(TypedDict, total=False):
    """By how much the interval may be exceeded. Work that is done within it does not move what is due next, which counts from when this work was due. Smaller than the interval, only for its units, and never for a life limit."""

    days: int
    hours: float
    cycles: int


class _CreateAssetIntervalLastDoneRequired(TypedDict):
    at: str


class CreateAssetIntervalLastDone(_CreateAssetIntervalLastDoneRequired, total=False):
    """When the work was last done before the interval was created, and the usage at that time. Required for each counter in `every`, and not above the usage of the asset."""

    hours: float
    cycles: int


class UpdateAssetIntervalEvery(TypedDict, total=False):
    """Set at least one; the one that is reached first counts."""

    days: int
    months: int
    hours: float
    cycles: int


class UpdateAssetIntervalTolerance(TypedDict, total=False):
    """By how much the interval may be exceeded. Work that is done within it does not move what is due next, which counts from when this work was due. Smaller than the interval, only for its units, and never for a life limit."""

    days: int
    hours: float
    cycles: int


class _CreateMaintenanceFilesRequired(TypedDict):
    fileId: str


class CreateMaintenanceFiles(_CreateMaintenanceFilesRequired, total=False):
    version: int
    share: bool


class CountMaintenancesResult(TypedDict):
    """The number of entries."""

    count: int


class CreateSignoffAssertion(TypedDict):
    """What the passkey returned, each in base64url without padding."""

    credentialId: str
    authenticatorData: str
    clientDataJSON: str
    signature: str


class ChangeWorkRulesRules(TypedDict):
    type: str
    scope: str
    categories: List[str]
    critical: bool


class ChangeAssetWorkRulesRules(TypedDict):
    type: str
    scope: str
    categories: List[str]
    critical: bool


class SignPasskeyRegistrationAssertion(TypedDict):
    """What the passkey returned, each in base64url without padding."""

    credentialId: str
    authenticatorData: str
    clientDataJSON: str
    signature: str


class SignPasskeyRegistrationByLinkAssertion(TypedDict):
    """What the passkey returned, each in base64url without padding."""

    credentialId: str
    authenticatorData: str
    clientDataJSON: str
    signature: str


class SignBySignRequestAssertion(TypedDict):
    """What the passkey returned, each in base64url without padding."""

    credentialId: str
    authenticatorData: str
    clientDataJSON: str
    signature: str


class _CreateWorkOrderRequestsRequired(TypedDict):
    workerAddress: str
    role: Literal["performed", "inspected", "certified"]


class CreateWorkOrderRequests(_CreateWorkOrderRequestsRequired, total=False):
    licenceScope: str


class _PublishAssetPageEntriesRequired(TypedDict):
    show: List[Literal["type", "summary", "performedAt", "recordedAt", "workers", "data", "files", "fileContents", "release", "signoffs", "licences", "proof", "documents"]]


class PublishAssetPageEntries(_PublishAssetPageEntriesRequired, total=False):
    """Absent: the page shows no entries."""

    types: List[str]
    maintenanceIds: List[str]


class PublishAssetPageDigitalLink(TypedDict, total=False):
    """Also publishes the page at its GS1 Digital Link, such as /gs1/{workspace}/01/09506000134352/21/A17, below the id of the workspace. Whoever knows or guesses this path finds it."""

    gtin: str
    serial: str
    giai: str


class CreateEndpointHeaders(TypedDict):
    name: str
    value: str


class CreateEndpointClientCertificate(TypedDict):
    """Shown to a receiver that asks for a certificate of the client."""

    certificate: str
    privateKey: str


class UpdateEndpointHeaders(TypedDict):
    name: str
    value: str


class UpdateEndpointClientCertificate(TypedDict):
    """Shown to a receiver that asks for a certificate of the client."""

    certificate: str
    privateKey: str


class GetEndpointSecretResult(TypedDict):
    """The signing secret."""

    secret: str


class RotateEndpointSecretResult(TypedDict):
    """The new signing secret, and until when deliveries are also signed with the old one."""

    secret: str
    previousSecretUntil: str


class ListEndpointPublicKeysResult(TypedDict):
    """The keys that sign now."""

    publicKeys: List[ListEndpointPublicKeysResultPublicKeys]


class ListEndpointPublicKeysResultPublicKeys(TypedDict):
    publicKey: str
    until: Optional[str]


class RotateEndpointKeyPairResult(TypedDict):
    """The new public key, and until when the old private key signs too."""

    publicKey: str
    previousPublicKeyUntil: str


class CreateReplayResult(TypedDict):
    """What a replay would send; nothing was sent."""

    count: int


class GetPortalSecretResult(TypedDict):
    """The signing secret."""

    secret: str


class RotatePortalSecretResult(TypedDict):
    """The new signing secret, and until when deliveries are also signed with the old one."""

    secret: str
    previousSecretUntil: str


Proof = Dict[str, Any]
