"""Every operation of the API, and how to call it. Generated from docs/openapi.json by `npm run openapi:accept`; do not edit."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, Union

from . import schemas
from .operation import UNSET, CallOptions, Caller, Download, Operation
from .pages import Pages
from .upload import FileToSend

OPERATIONS: Dict[str, Operation] = {
    "get_liveness": Operation("GET", "/healthz", (), is_repeatable=True),
    "get_readiness": Operation("GET", "/readyz", (), is_repeatable=True),
    "get_metrics": Operation("GET", "/metrics", (), is_repeatable=True),
    "create_vault": Operation("POST", "/api-v1/platform/vaults", (), takes_key=True, takes_body=True, is_repeatable=True),
    "list_vaults": Operation("GET", "/api-v1/platform/vaults", ("status", "cursor", "limit",), is_list=True, is_repeatable=True),
    "get_vault": Operation("GET", "/api-v1/platform/vaults/{vaultAddress}", (), is_repeatable=True),
    "update_vault": Operation("PUT", "/api-v1/platform/vaults/{vaultAddress}", (), takes_body=True, is_repeatable=True),
    "deactivate_vault": Operation("PATCH", "/api-v1/platform/vaults/{vaultAddress}/deactivate", (), is_repeatable=True),
    "reactivate_vault": Operation("PATCH", "/api-v1/platform/vaults/{vaultAddress}/reactivate", (), is_repeatable=True),
    "list_vault_transactions": Operation("POST", "/api-v1/platform/vaults/{vaultAddress}/transactions", (), takes_body=True, is_list=True, is_repeatable=True),
    "create_record": Operation("POST", "/api-v1/platform/records", (), takes_key=True, takes_body=True, is_repeatable=True),
    "list_records": Operation("GET", "/api-v1/platform/records", ("vaultAddress", "externalId", "status", "from", "to", "cursor", "limit",), is_list=True, is_repeatable=True),
    "create_records": Operation("POST", "/api-v1/platform/records/batch", (), takes_key=True, takes_body=True, is_repeatable=True),
    "get_record": Operation("GET", "/api-v1/platform/records/{recordId}", ("version",), is_repeatable=True),
    "list_record_versions": Operation("GET", "/api-v1/platform/records/{recordId}/versions", ("cursor", "limit",), is_list=True, is_repeatable=True),
    "create_record_version": Operation("POST", "/api-v1/platform/records/{recordId}/versions", (), takes_key=True, takes_body=True, is_repeatable=True),
    "get_record_proof": Operation("GET", "/api-v1/platform/records/{recordId}/proof", ("version",), is_repeatable=True),
    "erase_record_data": Operation("DELETE", "/api-v1/platform/records/{recordId}/data", ("version",), is_repeatable=True),
    "get_retention": Operation("GET", "/api-v1/platform/vaults/{vaultAddress}/retention", (), is_repeatable=True),
    "put_retention": Operation("PUT", "/api-v1/platform/vaults/{vaultAddress}/retention", (), takes_body=True, is_repeatable=True),
    "preview_retention": Operation("GET", "/api-v1/platform/vaults/{vaultAddress}/retention/preview", ("recordDays", "fileDays",), is_repeatable=True),
    "put_hold": Operation("PUT", "/api-v1/platform/holds", (), takes_body=True, is_repeatable=True),
    "list_holds": Operation("GET", "/api-v1/platform/holds", ("subjectId", "cursor", "limit",), is_list=True, is_repeatable=True),
    "list_erasures": Operation("GET", "/api-v1/platform/erasures", ("subjectId", "cursor", "limit",), is_list=True, is_repeatable=True),
    "create_file": Operation("POST", "/api-v1/platform/files", (), takes_key=True, takes_body=True, is_repeatable=True),
    "list_files": Operation("GET", "/api-v1/platform/files", ("vaultAddress", "status", "name", "cursor", "limit",), is_list=True, is_repeatable=True),
    "get_file": Operation("GET", "/api-v1/platform/files/{fileId}", (), is_repeatable=True),
    "list_file_versions": Operation("GET", "/api-v1/platform/files/{fileId}/versions", ("cursor", "limit",), is_list=True, is_repeatable=True),
    "create_file_version": Operation("POST", "/api-v1/platform/files/{fileId}/versions", (), takes_key=True, takes_body=True, is_repeatable=True),
    "erase_file_content": Operation("DELETE", "/api-v1/platform/files/{fileId}/content", ("version",), is_repeatable=True),
    "download_file_content": Operation("GET", "/api-v1/platform/files/{fileId}/content", ("version",), is_repeatable=True, is_raw=True),
    "transfer_file": Operation("POST", "/api-v1/platform/files/{fileId}/transfer", (), takes_key=True, takes_body=True, is_repeatable=True),
    "get_file_history": Operation("GET", "/api-v1/platform/files/{fileId}/history", ("format", "proofs", "cursor", "limit",), is_repeatable=True),
    "get_file_proof": Operation("GET", "/api-v1/platform/files/{fileId}/proof", ("version",), is_repeatable=True),
    "validate_file": Operation("POST", "/api-v1/platform/files/{fileId}/validate", (), takes_key=True, takes_body=True, is_repeatable=True),
    "list_file_validations": Operation("GET", "/api-v1/platform/files/{fileId}/validations", ("cursor", "limit",), is_list=True, is_repeatable=True),
    "get_file_validation": Operation("GET", "/api-v1/platform/files/{fileId}/validations/{validationId}", (), is_repeatable=True),
    "get_file_validation_proof": Operation("GET", "/api-v1/platform/files/{fileId}/validations/{validationId}/proof", (), is_repeatable=True),
    "get_file_certificate": Operation("GET", "/api-v1/platform/files/{fileId}/certificate", ("version",), is_repeatable=True, is_raw=True),
    "get_file_evidence": Operation("GET", "/api-v1/platform/files/{fileId}/evidence", ("version",), is_repeatable=True, is_raw=True),
    "get_record_evidence": Operation("GET", "/api-v1/platform/records/{recordId}/evidence", ("version",), is_repeatable=True, is_raw=True),
    "get_audit_log_proof": Operation("GET", "/api-v1/platform/audit-log/proof", (), is_repeatable=True),
    "get_stats": Operation("GET", "/api-v1/platform/stats", ("from", "to",), is_repeatable=True),
    "get_usage": Operation("GET", "/api-v1/platform/usage", (), is_repeatable=True),
    "create_worker": Operation("POST", "/api-v1/damc/workers/", (), takes_key=True, takes_body=True, is_repeatable=True),
    "list_workers": Operation("GET", "/api-v1/damc/workers/", ("cursor", "limit",), is_list=True, is_repeatable=True),
    "get_worker": Operation("GET", "/api-v1/damc/workers/{address}/", (), is_repeatable=True),
    "update_worker": Operation("PATCH", "/api-v1/damc/workers/{address}/", (), takes_body=True, is_repeatable=True),
    "bind_worker": Operation("PUT", "/api-v1/damc/workers/{address}/person/", (), takes_body=True, is_repeatable=True),
    "unbind_worker": Operation("DELETE", "/api-v1/damc/workers/{address}/person/", (), is_repeatable=True),
    "join_worker": Operation("PUT", "/api-v1/damc/workers/{address}/identity/", (), takes_body=True, is_repeatable=True),
    "separate_worker": Operation("DELETE", "/api-v1/damc/workers/{address}/identity/", (), is_repeatable=True),
    "create_asset": Operation("POST", "/api-v1/damc/assets/", (), takes_key=True, takes_body=True, is_repeatable=True),
    "list_assets": Operation("GET", "/api-v1/damc/assets/", ("q", "vaultAddress", "serialNumber", "parentAssetId", "cursor", "limit",), is_list=True, is_repeatable=True),
    "get_asset": Operation("GET", "/api-v1/damc/assets/{assetId}/", ("viewerAddress",), is_repeatable=True),
    "update_asset": Operation("PUT", "/api-v1/damc/assets/{assetId}/", (), takes_body=True, is_repeatable=True),
    "list_asset_versions": Operation("GET", "/api-v1/damc/assets/{assetId}/versions/", ("viewerAddress", "cursor", "limit",), is_list=True, is_repeatable=True),
    "get_asset_proof": Operation("GET", "/api-v1/damc/assets/{assetId}/proof/", ("viewerAddress", "version",), is_repeatable=True),
    "get_asset_history": Operation("GET", "/api-v1/damc/assets/{assetId}/history/", ("viewerAddress", "cursor", "limit",), is_repeatable=True),
    "transfer_asset": Operation("POST", "/api-v1/damc/assets/{assetId}/transfer/", (), takes_key=True, takes_body=True, is_repeatable=True),
    "list_asset_transfers": Operation("GET", "/api-v1/damc/assets/{assetId}/transfers/", ("cursor", "limit",), is_list=True, is_repeatable=True),
    "add_asset_viewers": Operation("POST", "/api-v1/damc/assets/{assetId}/viewers/", (), takes_key=True, takes_body=True, is_repeatable=True),
    "list_asset_viewers": Operation("GET", "/api-v1/damc/assets/{assetId}/viewers/", ("cursor", "limit",), is_list=True, is_repeatable=True),
    "remove_asset_viewer": Operation("DELETE", "/api-v1/damc/assets/{assetId}/viewers/{address}/", (), is_repeatable=True),
    "verify_asset_viewer": Operation("GET", "/api-v1/damc/assets/{assetId}/viewers/verify/", ("viewerAddress",), is_repeatable=True),
    "add_asset_workers": Operation("POST", "/api-v1/damc/assets/{assetId}/workers/", (), takes_key=True, takes_body=True, is_repeatable=True),
    "list_asset_workers": Operation("GET", "/api-v1/damc/assets/{assetId}/workers/", ("cursor", "limit",), is_list=True, is_repeatable=True),
    "remove_asset_worker": Operation("DELETE", "/api-v1/damc/assets/{assetId}/workers/{address}/", (), is_repeatable=True),
    "list_asset_access": Operation("GET", "/api-v1/damc/assets/{assetId}/access-log/", ("cursor", "limit",), is_list=True, is_repeatable=True),
    "install_asset": Operation("POST", "/api-v1/damc/assets/{assetId}/install/", (), takes_key=True, takes_body=True, is_repeatable=True),
    "remove_asset": Operation("POST", "/api-v1/damc/assets/{assetId}/remove/", (), takes_key=True, takes_body=True, is_repeatable=True),
    "list_asset_installations": Operation("GET", "/api-v1/damc/assets/{assetId}/installations/", ("cursor", "limit",), is_list=True, is_repeatable=True),
    "create_asset_interval": Operation("POST", "/api-v1/damc/assets/{assetId}/intervals/", (), takes_key=True, takes_body=True, is_repeatable=True),
    "list_asset_intervals": Operation("GET", "/api-v1/damc/assets/{assetId}/intervals/", ("cursor", "limit",), is_list=True, is_repeatable=True),
    "update_asset_interval": Operation("PUT", "/api-v1/damc/assets/{assetId}/intervals/{intervalId}/", (), takes_body=True, is_repeatable=True),
    "delete_asset_interval": Operation("DELETE", "/api-v1/damc/assets/{assetId}/intervals/{intervalId}/", (), is_repeatable=True),
    "list_asset_due": Operation("GET", "/api-v1/damc/assets/{assetId}/due/", ("viewerAddress",), is_repeatable=True),
    "create_maintenance": Operation("POST", "/api-v1/damc/assets/{assetId}/maintenances/", (), takes_key=True, takes_body=True, is_repeatable=True),
    "list_maintenances": Operation("GET", "/api-v1/damc/assets/{assetId}/maintenances/", ("viewerAddress", "type", "from", "to", "status", "cursor", "limit",), is_list=True, is_repeatable=True),
    "count_maintenances": Operation("GET", "/api-v1/damc/assets/{assetId}/maintenances/count/", ("viewerAddress", "type", "from", "to",), is_repeatable=True),
    "get_maintenance": Operation("GET", "/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/", ("viewerAddress",), is_repeatable=True),
    "get_maintenance_details": Operation("GET", "/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/details/", ("viewerAddress",), is_repeatable=True),
    "get_maintenance_proof": Operation("GET", "/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/proof/", ("viewerAddress",), is_repeatable=True),
    "create_signoff": Operation("POST", "/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/signoffs/", (), takes_key=True, takes_body=True, is_repeatable=True),
    "get_signoff_request": Operation("GET", "/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/signoffs/request/", ("workerAddress", "role", "licenceScope",), is_repeatable=True),
    "get_work_rules": Operation("GET", "/api-v1/damc/signoffs/rules/work/", (), is_repeatable=True),
    "change_work_rules": Operation("PUT", "/api-v1/damc/signoffs/rules/work/", (), takes_body=True, is_repeatable=True),
    "get_asset_work_rules": Operation("GET", "/api-v1/damc/assets/{assetId}/rules/", (), is_repeatable=True),
    "change_asset_work_rules": Operation("PUT", "/api-v1/damc/assets/{assetId}/rules/", (), takes_body=True, is_repeatable=True),
    "confirm_worker_passkey": Operation("POST", "/api-v1/damc/workers/{address}/passkeys/{passkeyId}/confirm", (), takes_body=True),
    "get_passkey_registration_request": Operation("GET", "/api-v1/damc/workers/{address}/passkeys/{passkeyId}/sign", (), is_repeatable=True),
    "sign_passkey_registration": Operation("POST", "/api-v1/damc/workers/{address}/passkeys/{passkeyId}/sign", (), takes_body=True),
    "link_passkey_registration": Operation("POST", "/api-v1/damc/workers/{address}/passkeys/{passkeyId}/link", ()),
    "open_passkey_registration": Operation("POST", "/api-v1/damc/passkeys/open", (), takes_body=True),
    "sign_passkey_registration_by_link": Operation("POST", "/api-v1/damc/passkeys/sign", (), takes_body=True),
    "invite_worker": Operation("POST", "/api-v1/damc/workers/{address}/invite", ()),
    "list_worker_passkeys": Operation("GET", "/api-v1/damc/workers/{address}/passkeys/", ("cursor", "limit",), is_list=True, is_repeatable=True),
    "refuse_worker_passkey": Operation("POST", "/api-v1/damc/workers/{address}/passkeys/{passkeyId}/refuse", ()),
    "revoke_worker_passkey": Operation("POST", "/api-v1/damc/workers/{address}/passkeys/{passkeyId}/revoke", (), takes_body=True),
    "get_passkey_statement": Operation("GET", "/api-v1/damc/workers/{address}/passkeys/statements/{number}/", (), is_repeatable=True),
    "get_passkey_proof": Operation("GET", "/api-v1/damc/workers/{address}/passkeys/statements/{number}/proof/", (), is_repeatable=True),
    "get_worker_passkey_options": Operation("POST", "/api-v1/damc/passkeys/options", (), takes_body=True, is_repeatable=True),
    "register_worker_passkey": Operation("POST", "/api-v1/damc/passkeys/register", (), takes_body=True),
    "request_signature": Operation("POST", "/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/signoffs/requests/", (), takes_body=True),
    "list_signature_requests": Operation("GET", "/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/signoffs/requests/", ("cursor", "limit",), is_list=True, is_repeatable=True),
    "withdraw_signature_request": Operation("DELETE", "/api-v1/damc/sign-requests/{requestId}", (), is_repeatable=True),
    "open_sign_request": Operation("POST", "/api-v1/damc/sign-requests/open", (), takes_body=True),
    "get_sign_request_file": Operation("POST", "/api-v1/damc/sign-requests/file", (), takes_body=True, is_repeatable=True, is_raw=True),
    "sign_by_sign_request": Operation("POST", "/api-v1/damc/sign-requests/sign", (), takes_body=True),
    "create_work_order": Operation("POST", "/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/work-order/", ("viewerAddress",), takes_body=True, is_raw=True),
    "get_signoff_rules": Operation("GET", "/api-v1/damc/signoffs/rules/", (), is_repeatable=True),
    "change_signoff_rules": Operation("PUT", "/api-v1/damc/signoffs/rules/", (), takes_body=True, is_repeatable=True),
    "get_organisation": Operation("GET", "/api-v1/damc/signoffs/organisation/", (), is_repeatable=True),
    "change_organisation": Operation("PUT", "/api-v1/damc/signoffs/organisation/", (), takes_body=True, is_repeatable=True),
    "get_signoff": Operation("GET", "/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/signoffs/{number}/", ("viewerAddress",), is_repeatable=True),
    "get_signoff_proof": Operation("GET", "/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/signoffs/{number}/proof/", ("viewerAddress",), is_repeatable=True),
    "publish_asset_page": Operation("POST", "/api-v1/damc/assets/{assetId}/published-pages/", (), takes_body=True),
    "list_published_asset_pages": Operation("GET", "/api-v1/damc/assets/{assetId}/published-pages/", ("cursor", "limit",), is_list=True, is_repeatable=True),
    "revoke_published_asset_page": Operation("DELETE", "/api-v1/damc/assets/{assetId}/published-pages/{pageId}/", (), is_repeatable=True),
    "download_asset_dossier": Operation("GET", "/api-v1/damc/assets/{assetId}/dossier/", ("viewerAddress", "attachments", "wait",), is_repeatable=True, is_raw=True),
    "get_dossier_proof": Operation("GET", "/api-v1/damc/assets/{assetId}/dossiers/{dossierId}/proof/", ("viewerAddress",), is_repeatable=True),
    "get_release_certificate": Operation("GET", "/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/release-certificate/", ("viewerAddress",), is_repeatable=True, is_raw=True),
    "list_events": Operation("GET", "/api-v1/platform/events", ("type", "order", "cursor", "limit",), is_list=True, is_repeatable=True),
    "stream_events": Operation("GET", "/api-v1/platform/events/stream", ("type", "cursor",), is_repeatable=True, is_raw=True),
    "create_endpoint": Operation("POST", "/api-v1/platform/webhooks/endpoints", (), takes_key=True, takes_body=True, is_repeatable=True),
    "list_endpoints": Operation("GET", "/api-v1/platform/webhooks/endpoints", ("cursor", "limit",), is_list=True, is_repeatable=True),
    "get_endpoint": Operation("GET", "/api-v1/platform/webhooks/endpoints/{endpointId}", (), is_repeatable=True),
    "update_endpoint": Operation("PATCH", "/api-v1/platform/webhooks/endpoints/{endpointId}", (), takes_body=True, is_repeatable=True),
    "delete_endpoint": Operation("DELETE", "/api-v1/platform/webhooks/endpoints/{endpointId}", (), is_repeatable=True),
    "test_endpoint": Operation("POST", "/api-v1/platform/webhooks/endpoints/{endpointId}/test", ()),
    "get_endpoint_secret": Operation("GET", "/api-v1/platform/webhooks/endpoints/{endpointId}/secret", (), is_repeatable=True),
    "rotate_endpoint_secret": Operation("POST", "/api-v1/platform/webhooks/endpoints/{endpointId}/rotate-secret", (), takes_key=True, is_repeatable=True),
    "list_endpoint_public_keys": Operation("GET", "/api-v1/platform/webhooks/endpoints/{endpointId}/public-keys", (), is_repeatable=True),
    "rotate_endpoint_key_pair": Operation("POST", "/api-v1/platform/webhooks/endpoints/{endpointId}/rotate-key-pair", (), takes_key=True, is_repeatable=True),
    "list_deliveries": Operation("GET", "/api-v1/platform/webhooks/deliveries", ("endpointId", "eventId", "status", "type", "from", "to", "cursor", "limit",), is_list=True, is_repeatable=True),
    "get_delivery": Operation("GET", "/api-v1/platform/webhooks/deliveries/{deliveryId}", (), is_repeatable=True),
    "retry_delivery": Operation("POST", "/api-v1/platform/webhooks/deliveries/{deliveryId}/retry", ()),
    "create_replay": Operation("POST", "/api-v1/platform/webhooks/endpoints/{endpointId}/replay", (), takes_key=True, takes_body=True, is_repeatable=True),
    "get_replay": Operation("GET", "/api-v1/platform/webhooks/replays/{replayId}", (), is_repeatable=True),
    "cancel_replay": Operation("DELETE", "/api-v1/platform/webhooks/replays/{replayId}", (), is_repeatable=True),
    "create_portal_link": Operation("POST", "/api-v1/platform/webhooks/endpoints/{endpointId}/portal-links", (), takes_key=True, takes_body=True, is_repeatable=True),
    "list_portal_links": Operation("GET", "/api-v1/platform/webhooks/endpoints/{endpointId}/portal-links", ("cursor", "limit",), is_list=True, is_repeatable=True),
    "revoke_portal_link": Operation("DELETE", "/api-v1/platform/webhooks/endpoints/{endpointId}/portal-links/{portalLinkId}", (), is_repeatable=True),
    "open_portal": Operation("POST", "/api-v1/platform/webhooks/portal/open", (), takes_body=True),
    "list_portal_deliveries": Operation("POST", "/api-v1/platform/webhooks/portal/deliveries", (), takes_body=True, is_list=True, is_repeatable=True),
    "get_portal_delivery": Operation("POST", "/api-v1/platform/webhooks/portal/delivery", (), takes_body=True, is_repeatable=True),
    "retry_portal_delivery": Operation("POST", "/api-v1/platform/webhooks/portal/retry", (), takes_body=True),
    "test_portal_endpoint": Operation("POST", "/api-v1/platform/webhooks/portal/test", (), takes_body=True),
    "change_portal_url": Operation("POST", "/api-v1/platform/webhooks/portal/change-url", (), takes_body=True),
    "get_portal_secret": Operation("POST", "/api-v1/platform/webhooks/portal/secret", (), takes_body=True, is_repeatable=True),
    "rotate_portal_secret": Operation("POST", "/api-v1/platform/webhooks/portal/rotate-secret", (), takes_body=True),
    "create_api_key": Operation("POST", "/api-v1/platform/api-keys", (), takes_key=True, takes_body=True, is_repeatable=True),
    "list_api_keys": Operation("GET", "/api-v1/platform/api-keys", ("cursor", "limit",), is_list=True, is_repeatable=True),
    "revoke_api_key": Operation("DELETE", "/api-v1/platform/api-keys/{keyId}", (), is_repeatable=True),
    "list_approvals": Operation("GET", "/api-v1/platform/approvals", ("status", "cursor", "limit",), is_list=True, is_repeatable=True),
    "get_approval": Operation("GET", "/api-v1/platform/approvals/{approvalId}", (), is_repeatable=True),
    "approve_step": Operation("POST", "/api-v1/platform/approvals/{approvalId}/approve", (), takes_key=True, takes_body=True, is_repeatable=True),
    "refuse_step": Operation("POST", "/api-v1/platform/approvals/{approvalId}/refuse", (), takes_key=True, takes_body=True, is_repeatable=True),
    "withdraw_step": Operation("POST", "/api-v1/platform/approvals/{approvalId}/withdraw", (), takes_key=True, takes_body=True, is_repeatable=True),
    "collect_approved_key": Operation("POST", "/api-v1/platform/approvals/{approvalId}/collect", (), takes_key=True, is_repeatable=True),
    "get_approval_rules": Operation("GET", "/api-v1/platform/approval-rules", (), is_repeatable=True),
    "update_approval_rules": Operation("PUT", "/api-v1/platform/approval-rules", (), takes_body=True, is_repeatable=True),
    "list_audit_entries": Operation("GET", "/api-v1/platform/audit-log", ("action", "actorId", "targetId", "cursor", "limit",), is_list=True, is_repeatable=True),
    "list_passkeys": Operation("GET", "/api-v1/platform/passkeys", (), is_list=True, is_repeatable=True),
    "create_passkey": Operation("POST", "/api-v1/platform/passkeys", (), takes_body=True),
    "get_passkey_options": Operation("POST", "/api-v1/platform/passkeys/options", (), is_repeatable=True),
    "remove_passkey": Operation("DELETE", "/api-v1/platform/passkeys/{passkeyId}", (), is_repeatable=True),
    "get_me": Operation("GET", "/api-v1/platform/me", (), is_repeatable=True),
    "create_workspace": Operation("POST", "/api-v1/platform/workspaces", (), takes_body=True),
    "list_members": Operation("GET", "/api-v1/platform/members", (), is_list=True, is_repeatable=True),
    "update_member": Operation("PATCH", "/api-v1/platform/members/{memberId}", (), takes_body=True, is_repeatable=True),
    "remove_member": Operation("DELETE", "/api-v1/platform/members/{memberId}", (), is_repeatable=True),
    "list_sessions": Operation("GET", "/api-v1/platform/sessions", (), is_list=True, is_repeatable=True),
    "end_all_sessions": Operation("DELETE", "/api-v1/platform/sessions", (), is_repeatable=True),
    "end_session": Operation("DELETE", "/api-v1/platform/sessions/{sessionId}", (), is_repeatable=True),
    "get_sign_in_rules": Operation("GET", "/api-v1/platform/sign-in-rules", (), is_repeatable=True),
    "update_sign_in_rules": Operation("PUT", "/api-v1/platform/sign-in-rules", (), takes_body=True, is_repeatable=True),
    "create_invitation": Operation("POST", "/api-v1/platform/invitations", (), takes_body=True),
    "list_invitations": Operation("GET", "/api-v1/platform/invitations", (), is_list=True, is_repeatable=True),
    "withdraw_invitation": Operation("DELETE", "/api-v1/platform/invitations/{invitationId}", (), is_repeatable=True),
    "look_up_invitation": Operation("POST", "/api-v1/platform/invitations/look", (), takes_body=True),
    "accept_invitation": Operation("POST", "/api-v1/platform/invitations/accept", (), takes_body=True),
    "list_notices": Operation("GET", "/api-v1/platform/notices", ("state", "cursor", "limit",), is_list=True, is_repeatable=True),
    "get_notice_mail": Operation("GET", "/api-v1/platform/notices/mail", (), is_repeatable=True),
    "set_notice_mail": Operation("PUT", "/api-v1/platform/notices/mail", (), takes_body=True, is_repeatable=True),
}


class Operations(Caller):
    """A method for each operation."""

    def get_liveness(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.GetLivenessResult:
        """Check that the process is alive."""
        arguments: Dict[str, Any] = {}
        result: schemas.GetLivenessResult = self._data("get_liveness", arguments, options)
        return result

    def get_readiness(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.Readiness:
        """Check that the service is ready."""
        arguments: Dict[str, Any] = {}
        result: schemas.Readiness = self._data("get_readiness", arguments, options)
        return result

    def get_metrics(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> str:
        """Get metrics in Prometheus text format."""
        arguments: Dict[str, Any] = {}
        result: str = self._data("get_metrics", arguments, options)
        return result

    def create_vault(
        self,
        *,
        name: str,
        description: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Vault:
        """Create a vault. Needs the scope `vaults:write`."""
        arguments: Dict[str, Any] = {
            "name": name,
            "description": description,
        }
        result: schemas.Vault = self._data("create_vault", arguments, options)
        return result

    def list_vaults(
        self,
        *,
        status: Literal["active", "inactive"] = UNSET,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Vault]:
        """List vaults. Needs the scope `vaults:read`."""
        arguments: Dict[str, Any] = {
            "status": status,
            "cursor": cursor,
            "limit": limit,
        }
        result: Pages[schemas.Vault] = self._pages("list_vaults", arguments, options)
        return result

    def get_vault(
        self,
        vault_address: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.Vault:
        """Get a vault. Needs the scope `vaults:read`."""
        arguments: Dict[str, Any] = {
            "vaultAddress": vault_address,
        }
        result: schemas.Vault = self._data("get_vault", arguments, options)
        return result

    def update_vault(
        self,
        vault_address: str,
        *,
        name: str = UNSET,
        description: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Vault:
        """Update a vault. Needs the scope `vaults:write`."""
        arguments: Dict[str, Any] = {
            "vaultAddress": vault_address,
            "name": name,
            "description": description,
        }
        result: schemas.Vault = self._data("update_vault", arguments, options)
        return result

    def deactivate_vault(
        self,
        vault_address: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.Vault:
        """Deactivate a vault. Needs the scope `vaults:write`."""
        arguments: Dict[str, Any] = {
            "vaultAddress": vault_address,
        }
        result: schemas.Vault = self._data("deactivate_vault", arguments, options)
        return result

    def reactivate_vault(
        self,
        vault_address: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.Vault:
        """Reactivate a vault. Needs the scope `vaults:write`."""
        arguments: Dict[str, Any] = {
            "vaultAddress": vault_address,
        }
        result: schemas.Vault = self._data("reactivate_vault", arguments, options)
        return result

    def list_vault_transactions(
        self,
        vault_address: str,
        *,
        cursor: str = UNSET,
        initial_date: str = UNSET,
        final_date: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Transaction]:
        """List the transactions of a vault. Needs the scope `vaults:read`."""
        arguments: Dict[str, Any] = {
            "vaultAddress": vault_address,
            "cursor": cursor,
            "initialDate": initial_date,
            "finalDate": final_date,
            "limit": limit,
        }
        result: Pages[schemas.Transaction] = self._pages("list_vault_transactions", arguments, options)
        return result

    def create_record(
        self,
        *,
        vault_address: str,
        data: Dict[str, Any],
        external_id: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Record:
        """Create a record. Needs the scope `records:write`."""
        arguments: Dict[str, Any] = {
            "vaultAddress": vault_address,
            "data": data,
            "externalId": external_id,
        }
        result: schemas.Record = self._data("create_record", arguments, options)
        return result

    def list_records(
        self,
        *,
        vault_address: str = UNSET,
        external_id: str = UNSET,
        status: Literal["pending", "batched", "submitted", "confirmed", "finalized"] = UNSET,
        from_: str = UNSET,
        to: str = UNSET,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Record]:
        """List records. Needs the scope `records:read`."""
        arguments: Dict[str, Any] = {
            "vaultAddress": vault_address,
            "externalId": external_id,
            "status": status,
            "from": from_,
            "to": to,
            "cursor": cursor,
            "limit": limit,
        }
        result: Pages[schemas.Record] = self._pages("list_records", arguments, options)
        return result

    def create_records(
        self,
        *,
        vault_address: str,
        records: List[schemas.CreateRecordsRecords],
        options: Optional[CallOptions] = None,
    ) -> List[schemas.Record]:
        """Create many records. Needs the scope `records:write`."""
        arguments: Dict[str, Any] = {
            "vaultAddress": vault_address,
            "records": records,
        }
        result: List[schemas.Record] = self._data("create_records", arguments, options)
        return result

    def get_record(
        self,
        record_id: str,
        *,
        version: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.RecordWithData:
        """Get a record with its data. Needs the scope `records:read`."""
        arguments: Dict[str, Any] = {
            "version": version,
            "recordId": record_id,
        }
        result: schemas.RecordWithData = self._data("get_record", arguments, options)
        return result

    def list_record_versions(
        self,
        record_id: str,
        *,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Record]:
        """List the versions of a record. Needs the scope `records:read`."""
        arguments: Dict[str, Any] = {
            "cursor": cursor,
            "limit": limit,
            "recordId": record_id,
        }
        result: Pages[schemas.Record] = self._pages("list_record_versions", arguments, options)
        return result

    def create_record_version(
        self,
        record_id: str,
        *,
        data: Dict[str, Any],
        options: Optional[CallOptions] = None,
    ) -> schemas.Record:
        """Add a version to a record. Needs the scope `records:write`."""
        arguments: Dict[str, Any] = {
            "recordId": record_id,
            "data": data,
        }
        result: schemas.Record = self._data("create_record_version", arguments, options)
        return result

    def get_record_proof(
        self,
        record_id: str,
        *,
        version: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Proof:
        """Get the proof of a record. Needs the scope `records:read`."""
        arguments: Dict[str, Any] = {
            "version": version,
            "recordId": record_id,
        }
        result: schemas.Proof = self._data("get_record_proof", arguments, options)
        return result

    def erase_record_data(
        self,
        record_id: str,
        *,
        version: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.RecordErasure:
        """Erase the data of a record. Needs the scope `records:write`."""
        arguments: Dict[str, Any] = {
            "version": version,
            "recordId": record_id,
        }
        result: schemas.RecordErasure = self._data("erase_record_data", arguments, options)
        return result

    def get_retention(
        self,
        vault_address: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.Retention:
        """Get the retention of a vault. Needs the scope `vaults:read`."""
        arguments: Dict[str, Any] = {
            "vaultAddress": vault_address,
        }
        result: schemas.Retention = self._data("get_retention", arguments, options)
        return result

    def put_retention(
        self,
        vault_address: str,
        *,
        record_days: Optional[int],
        file_days: Optional[int],
        options: Optional[CallOptions] = None,
    ) -> schemas.Retention:
        """Set the retention of a vault. Needs the scope `vaults:write`."""
        arguments: Dict[str, Any] = {
            "vaultAddress": vault_address,
            "recordDays": record_days,
            "fileDays": file_days,
        }
        result: schemas.Retention = self._data("put_retention", arguments, options)
        return result

    def preview_retention(
        self,
        vault_address: str,
        *,
        record_days: int = UNSET,
        file_days: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.RetentionPreview:
        """Preview the retention of a vault. Needs the scope `vaults:read`."""
        arguments: Dict[str, Any] = {
            "recordDays": record_days,
            "fileDays": file_days,
            "vaultAddress": vault_address,
        }
        result: schemas.RetentionPreview = self._data("preview_retention", arguments, options)
        return result

    def put_hold(
        self,
        *,
        held: bool,
        vault_address: str = UNSET,
        file_id: str = UNSET,
        record_id: str = UNSET,
        reason: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Hold:
        """Place or release a legal hold. Needs the scope `vaults:write`."""
        arguments: Dict[str, Any] = {
            "vaultAddress": vault_address,
            "fileId": file_id,
            "recordId": record_id,
            "held": held,
            "reason": reason,
        }
        result: schemas.Hold = self._data("put_hold", arguments, options)
        return result

    def list_holds(
        self,
        *,
        subject_id: str = UNSET,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Hold]:
        """List legal holds. Needs the scope `vaults:read`."""
        arguments: Dict[str, Any] = {
            "subjectId": subject_id,
            "cursor": cursor,
            "limit": limit,
        }
        result: Pages[schemas.Hold] = self._pages("list_holds", arguments, options)
        return result

    def list_erasures(
        self,
        *,
        subject_id: str = UNSET,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Erasure]:
        """List what was erased. Needs the scope `vaults:read`."""
        arguments: Dict[str, Any] = {
            "subjectId": subject_id,
            "cursor": cursor,
            "limit": limit,
        }
        result: Pages[schemas.Erasure] = self._pages("list_erasures", arguments, options)
        return result

    def create_file(
        self,
        *,
        vault_address: str,
        name: str = UNSET,
        content_hash: str = UNSET,
        canonicalization: Literal["raw", "hmac-sha256"] = UNSET,
        media_type: str = UNSET,
        expiration_date: str = UNSET,
        file: FileToSend = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.File:
        """Create a file. Needs the scope `files:write`."""
        arguments: Dict[str, Any] = {
            "vaultAddress": vault_address,
            "name": name,
            "contentHash": content_hash,
            "canonicalization": canonicalization,
            "mediaType": media_type,
            "expirationDate": expiration_date,
            "file": file,
        }
        result: schemas.File = self._data("create_file", arguments, options)
        return result

    def list_files(
        self,
        *,
        vault_address: str = UNSET,
        status: Literal["pending", "batched", "submitted", "confirmed", "finalized"] = UNSET,
        name: str = UNSET,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.File]:
        """List files. Needs the scope `files:read`."""
        arguments: Dict[str, Any] = {
            "vaultAddress": vault_address,
            "status": status,
            "name": name,
            "cursor": cursor,
            "limit": limit,
        }
        result: Pages[schemas.File] = self._pages("list_files", arguments, options)
        return result

    def get_file(
        self,
        file_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.File:
        """Get a file. Needs the scope `files:read`."""
        arguments: Dict[str, Any] = {
            "fileId": file_id,
        }
        result: schemas.File = self._data("get_file", arguments, options)
        return result

    def list_file_versions(
        self,
        file_id: str,
        *,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.File]:
        """List the versions of a file. Needs the scope `files:read`."""
        arguments: Dict[str, Any] = {
            "cursor": cursor,
            "limit": limit,
            "fileId": file_id,
        }
        result: Pages[schemas.File] = self._pages("list_file_versions", arguments, options)
        return result

    def create_file_version(
        self,
        file_id: str,
        *,
        vault_address: str = UNSET,
        name: str = UNSET,
        content_hash: str = UNSET,
        canonicalization: Literal["raw", "hmac-sha256"] = UNSET,
        media_type: str = UNSET,
        expiration_date: str = UNSET,
        file: FileToSend = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.File:
        """Add a version to a file. Needs the scope `files:write`."""
        arguments: Dict[str, Any] = {
            "fileId": file_id,
            "vaultAddress": vault_address,
            "name": name,
            "contentHash": content_hash,
            "canonicalization": canonicalization,
            "mediaType": media_type,
            "expirationDate": expiration_date,
            "file": file,
        }
        result: schemas.File = self._data("create_file_version", arguments, options)
        return result

    def erase_file_content(
        self,
        file_id: str,
        *,
        version: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Optional[schemas.EraseFileContentResult]:
        """Erase the content of a file. Needs the scope `files:write`."""
        arguments: Dict[str, Any] = {
            "version": version,
            "fileId": file_id,
        }
        result: Optional[schemas.EraseFileContentResult] = self._data("erase_file_content", arguments, options)
        return result

    def download_file_content(
        self,
        file_id: str,
        *,
        version: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Download:
        """Download the content of a file. Needs the scope `files:read`."""
        arguments: Dict[str, Any] = {
            "version": version,
            "fileId": file_id,
        }
        result: Download = self._data("download_file_content", arguments, options)
        return result

    def transfer_file(
        self,
        file_id: str,
        *,
        destination_vault_address: str,
        options: Optional[CallOptions] = None,
    ) -> Union[schemas.FileTransfer, schemas.NeedsApproval]:
        """Transfer a file to another vault. Needs the scope `files:write`."""
        arguments: Dict[str, Any] = {
            "fileId": file_id,
            "destinationVaultAddress": destination_vault_address,
        }
        result: Union[schemas.FileTransfer, schemas.NeedsApproval] = self._data("transfer_file", arguments, options)
        return result

    def get_file_history(
        self,
        file_id: str,
        *,
        format: Literal["list", "proof"] = UNSET,
        proofs: bool = UNSET,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Union[List[schemas.FileHistoryItem], schemas.Proof]:
        """Get the history of a file. Needs the scope `files:read`."""
        arguments: Dict[str, Any] = {
            "format": format,
            "proofs": proofs,
            "cursor": cursor,
            "limit": limit,
            "fileId": file_id,
        }
        result: Union[List[schemas.FileHistoryItem], schemas.Proof] = self._data("get_file_history", arguments, options)
        return result

    def get_file_proof(
        self,
        file_id: str,
        *,
        version: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Proof:
        """Get the proof of a file. Needs the scope `files:read`."""
        arguments: Dict[str, Any] = {
            "version": version,
            "fileId": file_id,
        }
        result: schemas.Proof = self._data("get_file_proof", arguments, options)
        return result

    def validate_file(
        self,
        file_id: str,
        *,
        content_hash: str = UNSET,
        version: int = UNSET,
        vault_address: str = UNSET,
        file: FileToSend = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.FileValidation:
        """Validate a file. Needs the scope `files:write`."""
        arguments: Dict[str, Any] = {
            "fileId": file_id,
            "contentHash": content_hash,
            "version": version,
            "vaultAddress": vault_address,
            "file": file,
        }
        result: schemas.FileValidation = self._data("validate_file", arguments, options)
        return result

    def list_file_validations(
        self,
        file_id: str,
        *,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.FileValidation]:
        """List the validations of a file. Needs the scope `files:read`."""
        arguments: Dict[str, Any] = {
            "cursor": cursor,
            "limit": limit,
            "fileId": file_id,
        }
        result: Pages[schemas.FileValidation] = self._pages("list_file_validations", arguments, options)
        return result

    def get_file_validation(
        self,
        file_id: str,
        validation_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.FileValidation:
        """Get a validation of a file. Needs the scope `files:read`."""
        arguments: Dict[str, Any] = {
            "fileId": file_id,
            "validationId": validation_id,
        }
        result: schemas.FileValidation = self._data("get_file_validation", arguments, options)
        return result

    def get_file_validation_proof(
        self,
        file_id: str,
        validation_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.Proof:
        """Get the proof of a validation. Needs the scope `files:read`."""
        arguments: Dict[str, Any] = {
            "fileId": file_id,
            "validationId": validation_id,
        }
        result: schemas.Proof = self._data("get_file_validation_proof", arguments, options)
        return result

    def get_file_certificate(
        self,
        file_id: str,
        *,
        version: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Download:
        """Get the certificate of a file. Needs the scope `files:read`."""
        arguments: Dict[str, Any] = {
            "version": version,
            "fileId": file_id,
        }
        result: Download = self._data("get_file_certificate", arguments, options)
        return result

    def get_file_evidence(
        self,
        file_id: str,
        *,
        version: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Download:
        """Get the evidence package of a file. Needs the scope `files:read`."""
        arguments: Dict[str, Any] = {
            "version": version,
            "fileId": file_id,
        }
        result: Download = self._data("get_file_evidence", arguments, options)
        return result

    def get_record_evidence(
        self,
        record_id: str,
        *,
        version: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Download:
        """Get the evidence package of a record. Needs the scope `records:read`."""
        arguments: Dict[str, Any] = {
            "version": version,
            "recordId": record_id,
        }
        result: Download = self._data("get_record_evidence", arguments, options)
        return result

    def get_audit_log_proof(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.AuditLogProof:
        """Get the proof of the audit log. Needs the scope `audit:read`."""
        arguments: Dict[str, Any] = {}
        result: schemas.AuditLogProof = self._data("get_audit_log_proof", arguments, options)
        return result

    def get_stats(
        self,
        *,
        from_: str = UNSET,
        to: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Stats:
        """Get statistics of the workspace. Needs the scope `events:read`."""
        arguments: Dict[str, Any] = {
            "from": from_,
            "to": to,
        }
        result: schemas.Stats = self._data("get_stats", arguments, options)
        return result

    def get_usage(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.Usage:
        """Get budgets and usage. Needs the scope `events:read`."""
        arguments: Dict[str, Any] = {}
        result: schemas.Usage = self._data("get_usage", arguments, options)
        return result

    def create_worker(
        self,
        *,
        name: str,
        address: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.CreatedWorker:
        """Create a worker. Needs the scope `workers:write`."""
        arguments: Dict[str, Any] = {
            "name": name,
            "address": address,
        }
        result: schemas.CreatedWorker = self._data("create_worker", arguments, options)
        return result

    def list_workers(
        self,
        *,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Worker]:
        """List workers. Needs the scope `workers:read`."""
        arguments: Dict[str, Any] = {
            "cursor": cursor,
            "limit": limit,
        }
        result: Pages[schemas.Worker] = self._pages("list_workers", arguments, options)
        return result

    def get_worker(
        self,
        address: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.Worker:
        """Get a worker. Needs the scope `workers:read`."""
        arguments: Dict[str, Any] = {
            "address": address,
        }
        result: schemas.Worker = self._data("get_worker", arguments, options)
        return result

    def update_worker(
        self,
        address: str,
        *,
        name: str = UNSET,
        licences: List[schemas.UpdateWorkerLicences] = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Worker:
        """Update a worker. Needs the scope `workers:write`."""
        arguments: Dict[str, Any] = {
            "address": address,
            "name": name,
            "licences": licences,
        }
        result: schemas.Worker = self._data("update_worker", arguments, options)
        return result

    def bind_worker(
        self,
        address: str,
        *,
        user_id: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.Worker:
        """Say which person a worker is. Needs the role `admin`."""
        arguments: Dict[str, Any] = {
            "address": address,
            "userId": user_id,
        }
        result: schemas.Worker = self._data("bind_worker", arguments, options)
        return result

    def unbind_worker(
        self,
        address: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Say that a worker is no longer that person. Needs the role `admin`."""
        arguments: Dict[str, Any] = {
            "address": address,
        }
        self._data("unbind_worker", arguments, options)

    def join_worker(
        self,
        address: str,
        *,
        worker_address: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.Worker:
        """Say that two workers are one person. Needs the scope `workers:write`."""
        arguments: Dict[str, Any] = {
            "address": address,
            "workerAddress": worker_address,
        }
        result: schemas.Worker = self._data("join_worker", arguments, options)
        return result

    def separate_worker(
        self,
        address: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Say that a worker is a person of their own. Needs the role `admin`."""
        arguments: Dict[str, Any] = {
            "address": address,
        }
        self._data("separate_worker", arguments, options)

    def create_asset(
        self,
        *,
        vault_address: str,
        name: str,
        asset_id: str = UNSET,
        serial_number: str = UNSET,
        part_number: str = UNSET,
        metadata: Dict[str, Any] = UNSET,
        usage: schemas.CreateAssetUsage = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Asset:
        """Create an asset. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "vaultAddress": vault_address,
            "name": name,
            "assetId": asset_id,
            "serialNumber": serial_number,
            "partNumber": part_number,
            "metadata": metadata,
            "usage": usage,
        }
        result: schemas.Asset = self._data("create_asset", arguments, options)
        return result

    def list_assets(
        self,
        *,
        q: str = UNSET,
        vault_address: str = UNSET,
        serial_number: str = UNSET,
        parent_asset_id: str = UNSET,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Asset]:
        """List assets. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "q": q,
            "vaultAddress": vault_address,
            "serialNumber": serial_number,
            "parentAssetId": parent_asset_id,
            "cursor": cursor,
            "limit": limit,
        }
        result: Pages[schemas.Asset] = self._pages("list_assets", arguments, options)
        return result

    def get_asset(
        self,
        asset_id: str,
        *,
        viewer_address: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Asset:
        """Get an asset. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "viewerAddress": viewer_address,
            "assetId": asset_id,
        }
        result: schemas.Asset = self._data("get_asset", arguments, options)
        return result

    def update_asset(
        self,
        asset_id: str,
        *,
        name: str = UNSET,
        serial_number: str = UNSET,
        part_number: str = UNSET,
        metadata: Dict[str, Any] = UNSET,
        usage: schemas.UpdateAssetUsage = UNSET,
        usage_correction: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Asset:
        """Update an asset. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "assetId": asset_id,
            "name": name,
            "serialNumber": serial_number,
            "partNumber": part_number,
            "metadata": metadata,
            "usage": usage,
            "usageCorrection": usage_correction,
        }
        result: schemas.Asset = self._data("update_asset", arguments, options)
        return result

    def list_asset_versions(
        self,
        asset_id: str,
        *,
        viewer_address: str = UNSET,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.AssetVersion]:
        """List the versions of an asset. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "viewerAddress": viewer_address,
            "cursor": cursor,
            "limit": limit,
            "assetId": asset_id,
        }
        result: Pages[schemas.AssetVersion] = self._pages("list_asset_versions", arguments, options)
        return result

    def get_asset_proof(
        self,
        asset_id: str,
        *,
        viewer_address: str = UNSET,
        version: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Proof:
        """Get the proof of an asset. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "viewerAddress": viewer_address,
            "version": version,
            "assetId": asset_id,
        }
        result: schemas.Proof = self._data("get_asset_proof", arguments, options)
        return result

    def get_asset_history(
        self,
        asset_id: str,
        *,
        viewer_address: str = UNSET,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Proof:
        """Get the history of an asset. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "viewerAddress": viewer_address,
            "cursor": cursor,
            "limit": limit,
            "assetId": asset_id,
        }
        result: schemas.Proof = self._data("get_asset_history", arguments, options)
        return result

    def transfer_asset(
        self,
        asset_id: str,
        *,
        destination_vault_address: str,
        options: Optional[CallOptions] = None,
    ) -> Union[schemas.AssetTransfer, schemas.NeedsApproval]:
        """Transfer an asset to another vault. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "assetId": asset_id,
            "destinationVaultAddress": destination_vault_address,
        }
        result: Union[schemas.AssetTransfer, schemas.NeedsApproval] = self._data("transfer_asset", arguments, options)
        return result

    def list_asset_transfers(
        self,
        asset_id: str,
        *,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.AssetTransfer]:
        """List the transfers of an asset. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "cursor": cursor,
            "limit": limit,
            "assetId": asset_id,
        }
        result: Pages[schemas.AssetTransfer] = self._pages("list_asset_transfers", arguments, options)
        return result

    def add_asset_viewers(
        self,
        asset_id: str,
        *,
        viewers: List[str],
        until: Optional[str] = UNSET,
        options: Optional[CallOptions] = None,
    ) -> List[schemas.AssetViewer]:
        """Add viewers to an asset. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "assetId": asset_id,
            "viewers": viewers,
            "until": until,
        }
        result: List[schemas.AssetViewer] = self._data("add_asset_viewers", arguments, options)
        return result

    def list_asset_viewers(
        self,
        asset_id: str,
        *,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.AssetViewer]:
        """List the viewers of an asset. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "cursor": cursor,
            "limit": limit,
            "assetId": asset_id,
        }
        result: Pages[schemas.AssetViewer] = self._pages("list_asset_viewers", arguments, options)
        return result

    def remove_asset_viewer(
        self,
        asset_id: str,
        address: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Remove a viewer from an asset. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "assetId": asset_id,
            "address": address,
        }
        self._data("remove_asset_viewer", arguments, options)

    def verify_asset_viewer(
        self,
        asset_id: str,
        *,
        viewer_address: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.VerifyAssetViewerResult:
        """Check whether an address may see an asset. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "viewerAddress": viewer_address,
            "assetId": asset_id,
        }
        result: schemas.VerifyAssetViewerResult = self._data("verify_asset_viewer", arguments, options)
        return result

    def add_asset_workers(
        self,
        asset_id: str,
        *,
        workers: List[str],
        options: Optional[CallOptions] = None,
    ) -> List[schemas.AssetWorker]:
        """Assign workers to an asset. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "assetId": asset_id,
            "workers": workers,
        }
        result: List[schemas.AssetWorker] = self._data("add_asset_workers", arguments, options)
        return result

    def list_asset_workers(
        self,
        asset_id: str,
        *,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.AssetWorker]:
        """List the workers assigned to an asset. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "cursor": cursor,
            "limit": limit,
            "assetId": asset_id,
        }
        result: Pages[schemas.AssetWorker] = self._pages("list_asset_workers", arguments, options)
        return result

    def remove_asset_worker(
        self,
        asset_id: str,
        address: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Remove a worker from an asset. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "assetId": asset_id,
            "address": address,
        }
        self._data("remove_asset_worker", arguments, options)

    def list_asset_access(
        self,
        asset_id: str,
        *,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.AssetAccess]:
        """List accesses to an asset. Needs the scope `audit:read`."""
        arguments: Dict[str, Any] = {
            "cursor": cursor,
            "limit": limit,
            "assetId": asset_id,
        }
        result: Pages[schemas.AssetAccess] = self._pages("list_asset_access", arguments, options)
        return result

    def install_asset(
        self,
        asset_id: str,
        *,
        parent_asset_id: str,
        at: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.Installation:
        """Install an asset in another one. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "assetId": asset_id,
            "parentAssetId": parent_asset_id,
            "at": at,
        }
        result: schemas.Installation = self._data("install_asset", arguments, options)
        return result

    def remove_asset(
        self,
        asset_id: str,
        *,
        at: str,
        parent_asset_id: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Installation:
        """Remove an asset from the one it is installed in. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "assetId": asset_id,
            "parentAssetId": parent_asset_id,
            "at": at,
        }
        result: schemas.Installation = self._data("remove_asset", arguments, options)
        return result

    def list_asset_installations(
        self,
        asset_id: str,
        *,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Installation]:
        """List the installations of an asset. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "cursor": cursor,
            "limit": limit,
            "assetId": asset_id,
        }
        result: Pages[schemas.Installation] = self._pages("list_asset_installations", arguments, options)
        return result

    def create_asset_interval(
        self,
        asset_id: str,
        *,
        every: schemas.CreateAssetIntervalEvery,
        last_done: schemas.CreateAssetIntervalLastDone,
        name: str = UNSET,
        kind: Literal["recurring", "life-limit"] = UNSET,
        tolerance: schemas.CreateAssetIntervalTolerance = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Interval:
        """Create a maintenance interval. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "assetId": asset_id,
            "name": name,
            "kind": kind,
            "every": every,
            "tolerance": tolerance,
            "lastDone": last_done,
        }
        result: schemas.Interval = self._data("create_asset_interval", arguments, options)
        return result

    def list_asset_intervals(
        self,
        asset_id: str,
        *,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Interval]:
        """List the intervals of an asset. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "cursor": cursor,
            "limit": limit,
            "assetId": asset_id,
        }
        result: Pages[schemas.Interval] = self._pages("list_asset_intervals", arguments, options)
        return result

    def update_asset_interval(
        self,
        asset_id: str,
        interval_id: str,
        *,
        name: str = UNSET,
        every: schemas.UpdateAssetIntervalEvery = UNSET,
        tolerance: schemas.UpdateAssetIntervalTolerance = UNSET,
        limit_correction: str = UNSET,
        completed_by: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Interval:
        """Update or complete an interval. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "assetId": asset_id,
            "intervalId": interval_id,
            "name": name,
            "every": every,
            "tolerance": tolerance,
            "limitCorrection": limit_correction,
            "completedBy": completed_by,
        }
        result: schemas.Interval = self._data("update_asset_interval", arguments, options)
        return result

    def delete_asset_interval(
        self,
        asset_id: str,
        interval_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Delete an interval. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "assetId": asset_id,
            "intervalId": interval_id,
        }
        self._data("delete_asset_interval", arguments, options)

    def list_asset_due(
        self,
        asset_id: str,
        *,
        viewer_address: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.AssetDue:
        """List what is due on an asset. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "viewerAddress": viewer_address,
            "assetId": asset_id,
        }
        result: schemas.AssetDue = self._data("list_asset_due", arguments, options)
        return result

    def create_maintenance(
        self,
        asset_id: str,
        *,
        worker_address: str,
        type: str,
        summary: str,
        performed_at: str,
        data: Dict[str, Any] = UNSET,
        file_ids: List[str] = UNSET,
        files: List[schemas.CreateMaintenanceFiles] = UNSET,
        supersedes: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.CreatedMaintenance:
        """Create a maintenance entry. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "assetId": asset_id,
            "workerAddress": worker_address,
            "type": type,
            "summary": summary,
            "performedAt": performed_at,
            "data": data,
            "fileIds": file_ids,
            "files": files,
            "supersedes": supersedes,
        }
        result: schemas.CreatedMaintenance = self._data("create_maintenance", arguments, options)
        return result

    def list_maintenances(
        self,
        asset_id: str,
        *,
        viewer_address: str,
        type: str = UNSET,
        from_: str = UNSET,
        to: str = UNSET,
        status: Literal["pending", "batched", "submitted", "confirmed", "finalized"] = UNSET,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Maintenance]:
        """List maintenance entries. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "viewerAddress": viewer_address,
            "type": type,
            "from": from_,
            "to": to,
            "status": status,
            "cursor": cursor,
            "limit": limit,
            "assetId": asset_id,
        }
        result: Pages[schemas.Maintenance] = self._pages("list_maintenances", arguments, options)
        return result

    def count_maintenances(
        self,
        asset_id: str,
        *,
        viewer_address: str,
        type: str = UNSET,
        from_: str = UNSET,
        to: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.CountMaintenancesResult:
        """Count maintenance entries. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "viewerAddress": viewer_address,
            "type": type,
            "from": from_,
            "to": to,
            "assetId": asset_id,
        }
        result: schemas.CountMaintenancesResult = self._data("count_maintenances", arguments, options)
        return result

    def get_maintenance(
        self,
        asset_id: str,
        maintenance_id: str,
        *,
        viewer_address: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.FoundMaintenance:
        """Get an asset maintenance. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "viewerAddress": viewer_address,
            "assetId": asset_id,
            "maintenanceId": maintenance_id,
        }
        result: schemas.FoundMaintenance = self._data("get_maintenance", arguments, options)
        return result

    def get_maintenance_details(
        self,
        asset_id: str,
        maintenance_id: str,
        *,
        viewer_address: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.MaintenanceDetails:
        """Get a maintenance entry with all its details. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "viewerAddress": viewer_address,
            "assetId": asset_id,
            "maintenanceId": maintenance_id,
        }
        result: schemas.MaintenanceDetails = self._data("get_maintenance_details", arguments, options)
        return result

    def get_maintenance_proof(
        self,
        asset_id: str,
        maintenance_id: str,
        *,
        viewer_address: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.Proof:
        """Get the proof of a maintenance entry. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "viewerAddress": viewer_address,
            "assetId": asset_id,
            "maintenanceId": maintenance_id,
        }
        result: schemas.Proof = self._data("get_maintenance_proof", arguments, options)
        return result

    def create_signoff(
        self,
        asset_id: str,
        maintenance_id: str,
        *,
        worker_address: str,
        role: Literal["performed", "inspected", "certified"],
        licence_scope: str = UNSET,
        signature: str = UNSET,
        signed_at: str = UNSET,
        assertion: schemas.CreateSignoffAssertion = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Signoff:
        """Sign off a maintenance entry. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "assetId": asset_id,
            "maintenanceId": maintenance_id,
            "workerAddress": worker_address,
            "role": role,
            "licenceScope": licence_scope,
            "signature": signature,
            "signedAt": signed_at,
            "assertion": assertion,
        }
        result: schemas.Signoff = self._data("create_signoff", arguments, options)
        return result

    def get_signoff_request(
        self,
        asset_id: str,
        maintenance_id: str,
        *,
        worker_address: str,
        role: Literal["performed", "inspected", "certified"],
        licence_scope: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.SignoffRequest:
        """Get the typed data of a sign-off. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "workerAddress": worker_address,
            "role": role,
            "licenceScope": licence_scope,
            "assetId": asset_id,
            "maintenanceId": maintenance_id,
        }
        result: schemas.SignoffRequest = self._data("get_signoff_request", arguments, options)
        return result

    def get_work_rules(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.WorkRules:
        """Get the rules for types of work. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {}
        result: schemas.WorkRules = self._data("get_work_rules", arguments, options)
        return result

    def change_work_rules(
        self,
        *,
        rules: List[schemas.ChangeWorkRulesRules],
        options: Optional[CallOptions] = None,
    ) -> schemas.WorkRules:
        """Change the rules for types of work. Needs the role `admin`."""
        arguments: Dict[str, Any] = {
            "rules": rules,
        }
        result: schemas.WorkRules = self._data("change_work_rules", arguments, options)
        return result

    def get_asset_work_rules(
        self,
        asset_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.WorkRules:
        """Get the rules of an asset. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "assetId": asset_id,
        }
        result: schemas.WorkRules = self._data("get_asset_work_rules", arguments, options)
        return result

    def change_asset_work_rules(
        self,
        asset_id: str,
        *,
        rules: List[schemas.ChangeAssetWorkRulesRules],
        options: Optional[CallOptions] = None,
    ) -> schemas.WorkRules:
        """Change the rules of an asset. Needs the role `admin`."""
        arguments: Dict[str, Any] = {
            "assetId": asset_id,
            "rules": rules,
        }
        result: schemas.WorkRules = self._data("change_asset_work_rules", arguments, options)
        return result

    def confirm_worker_passkey(
        self,
        address: str,
        passkey_id: str,
        *,
        code: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.WorkerPasskey:
        """Confirm whose passkey it is. Needs the role `admin`."""
        arguments: Dict[str, Any] = {
            "address": address,
            "passkeyId": passkey_id,
            "code": code,
        }
        result: schemas.WorkerPasskey = self._data("confirm_worker_passkey", arguments, options)
        return result

    def get_passkey_registration_request(
        self,
        address: str,
        passkey_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.PasskeyRegistrationRequest:
        """Get the typed data of a registration. Needs the scope `workers:read`."""
        arguments: Dict[str, Any] = {
            "address": address,
            "passkeyId": passkey_id,
        }
        result: schemas.PasskeyRegistrationRequest = self._data("get_passkey_registration_request", arguments, options)
        return result

    def sign_passkey_registration(
        self,
        address: str,
        passkey_id: str,
        *,
        signature: str = UNSET,
        assertion: schemas.SignPasskeyRegistrationAssertion = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.WorkerPasskey:
        """Hand in the signature of a registration. Needs the scope `workers:write`."""
        arguments: Dict[str, Any] = {
            "address": address,
            "passkeyId": passkey_id,
            "signature": signature,
            "assertion": assertion,
        }
        result: schemas.WorkerPasskey = self._data("sign_passkey_registration", arguments, options)
        return result

    def link_passkey_registration(
        self,
        address: str,
        passkey_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.PasskeyRegistrationLink:
        """Make a link to sign a registration by. Needs the scope `workers:write`."""
        arguments: Dict[str, Any] = {
            "address": address,
            "passkeyId": passkey_id,
        }
        result: schemas.PasskeyRegistrationLink = self._data("link_passkey_registration", arguments, options)
        return result

    def open_passkey_registration(
        self,
        *,
        token: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.OpenPasskeyRegistration:
        """Look at what a link asks to sign of another passkey."""
        arguments: Dict[str, Any] = {
            "token": token,
        }
        result: schemas.OpenPasskeyRegistration = self._data("open_passkey_registration", arguments, options)
        return result

    def sign_passkey_registration_by_link(
        self,
        *,
        token: str,
        assertion: schemas.SignPasskeyRegistrationByLinkAssertion,
        options: Optional[CallOptions] = None,
    ) -> schemas.WorkerPasskey:
        """Sign by a link that another passkey is one’s own."""
        arguments: Dict[str, Any] = {
            "token": token,
            "assertion": assertion,
        }
        result: schemas.WorkerPasskey = self._data("sign_passkey_registration_by_link", arguments, options)
        return result

    def invite_worker(
        self,
        address: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.WorkerInvitation:
        """Invite a worker to register a passkey. Needs the scope `workers:write`."""
        arguments: Dict[str, Any] = {
            "address": address,
        }
        result: schemas.WorkerInvitation = self._data("invite_worker", arguments, options)
        return result

    def list_worker_passkeys(
        self,
        address: str,
        *,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.WorkerPasskey]:
        """List the passkeys of a worker. Needs the scope `workers:read`."""
        arguments: Dict[str, Any] = {
            "cursor": cursor,
            "limit": limit,
            "address": address,
        }
        result: Pages[schemas.WorkerPasskey] = self._pages("list_worker_passkeys", arguments, options)
        return result

    def refuse_worker_passkey(
        self,
        address: str,
        passkey_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.WorkerPasskey:
        """Refuse a registration that was not the worker’s. Needs the role `admin`."""
        arguments: Dict[str, Any] = {
            "address": address,
            "passkeyId": passkey_id,
        }
        result: schemas.WorkerPasskey = self._data("refuse_worker_passkey", arguments, options)
        return result

    def revoke_worker_passkey(
        self,
        address: str,
        passkey_id: str,
        *,
        reason: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.WorkerPasskey:
        """Revoke a passkey. Needs the scope `workers:write`."""
        arguments: Dict[str, Any] = {
            "address": address,
            "passkeyId": passkey_id,
            "reason": reason,
        }
        result: schemas.WorkerPasskey = self._data("revoke_worker_passkey", arguments, options)
        return result

    def get_passkey_statement(
        self,
        address: str,
        number: int,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.PasskeyStatement:
        """Get what was anchored about a passkey. Needs the scope `workers:read`."""
        arguments: Dict[str, Any] = {
            "address": address,
            "number": number,
        }
        result: schemas.PasskeyStatement = self._data("get_passkey_statement", arguments, options)
        return result

    def get_passkey_proof(
        self,
        address: str,
        number: int,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.Proof:
        """Get the proof of what was anchored about a passkey. Needs the scope `workers:read`."""
        arguments: Dict[str, Any] = {
            "address": address,
            "number": number,
        }
        result: schemas.Proof = self._data("get_passkey_proof", arguments, options)
        return result

    def get_worker_passkey_options(
        self,
        *,
        token: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.WorkerPasskeyOptions:
        """Get what a browser needs to make a passkey."""
        arguments: Dict[str, Any] = {
            "token": token,
        }
        result: schemas.WorkerPasskeyOptions = self._data("get_worker_passkey_options", arguments, options)
        return result

    def register_worker_passkey(
        self,
        *,
        token: str,
        response: Dict[str, Any],
        options: Optional[CallOptions] = None,
    ) -> schemas.RegisteredPasskey:
        """Register a passkey with a link."""
        arguments: Dict[str, Any] = {
            "token": token,
            "response": response,
        }
        result: schemas.RegisteredPasskey = self._data("register_worker_passkey", arguments, options)
        return result

    def request_signature(
        self,
        asset_id: str,
        maintenance_id: str,
        *,
        worker_address: str,
        role: Literal["performed", "inspected", "certified"],
        licence_scope: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.SignRequest:
        """Make a link to sign by. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "assetId": asset_id,
            "maintenanceId": maintenance_id,
            "workerAddress": worker_address,
            "role": role,
            "licenceScope": licence_scope,
        }
        result: schemas.SignRequest = self._data("request_signature", arguments, options)
        return result

    def list_signature_requests(
        self,
        asset_id: str,
        maintenance_id: str,
        *,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.SignLink]:
        """List the links to sign an entry by. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "cursor": cursor,
            "limit": limit,
            "assetId": asset_id,
            "maintenanceId": maintenance_id,
        }
        result: Pages[schemas.SignLink] = self._pages("list_signature_requests", arguments, options)
        return result

    def withdraw_signature_request(
        self,
        request_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Withdraw a link to sign by. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "requestId": request_id,
        }
        self._data("withdraw_signature_request", arguments, options)

    def open_sign_request(
        self,
        *,
        token: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.OpenSignRequest:
        """Look at what a link asks to sign."""
        arguments: Dict[str, Any] = {
            "token": token,
        }
        result: schemas.OpenSignRequest = self._data("open_sign_request", arguments, options)
        return result

    def get_sign_request_file(
        self,
        *,
        token: str,
        file_id: str,
        options: Optional[CallOptions] = None,
    ) -> Download:
        """Download a file of the entry that a link asks to sign."""
        arguments: Dict[str, Any] = {
            "token": token,
            "fileId": file_id,
        }
        result: Download = self._data("get_sign_request_file", arguments, options)
        return result

    def sign_by_sign_request(
        self,
        *,
        token: str,
        signed_at: str,
        assertion: schemas.SignBySignRequestAssertion,
        options: Optional[CallOptions] = None,
    ) -> schemas.Signoff:
        """Sign by a link."""
        arguments: Dict[str, Any] = {
            "token": token,
            "signedAt": signed_at,
            "assertion": assertion,
        }
        result: schemas.Signoff = self._data("sign_by_sign_request", arguments, options)
        return result

    def create_work_order(
        self,
        asset_id: str,
        maintenance_id: str,
        *,
        viewer_address: str,
        requests: List[schemas.CreateWorkOrderRequests],
        options: Optional[CallOptions] = None,
    ) -> Download:
        """Make a work order to print. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "viewerAddress": viewer_address,
            "assetId": asset_id,
            "maintenanceId": maintenance_id,
            "requests": requests,
        }
        result: Download = self._data("create_work_order", arguments, options)
        return result

    def get_signoff_rules(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.SignoffRules:
        """Get the rules for sign-offs. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {}
        result: schemas.SignoffRules = self._data("get_signoff_rules", arguments, options)
        return result

    def change_signoff_rules(
        self,
        *,
        own_key: List[Literal["performed", "inspected", "certified"]],
        options: Optional[CallOptions] = None,
    ) -> schemas.SignoffRules:
        """Change the rules for sign-offs. Needs the role `admin`."""
        arguments: Dict[str, Any] = {
            "ownKey": own_key,
        }
        result: schemas.SignoffRules = self._data("change_signoff_rules", arguments, options)
        return result

    def get_organisation(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.Organisation:
        """Get the organisation that releases work. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {}
        result: schemas.Organisation = self._data("get_organisation", arguments, options)
        return result

    def change_organisation(
        self,
        *,
        name: str,
        address: str,
        authority: str,
        approval_number: str,
        regulation: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.Organisation:
        """Change the organisation that releases work. Needs the role `owner`."""
        arguments: Dict[str, Any] = {
            "name": name,
            "address": address,
            "authority": authority,
            "approvalNumber": approval_number,
            "regulation": regulation,
        }
        result: schemas.Organisation = self._data("change_organisation", arguments, options)
        return result

    def get_signoff(
        self,
        asset_id: str,
        maintenance_id: str,
        number: int,
        *,
        viewer_address: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.SignoffWithDocument:
        """Get a sign-off. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "viewerAddress": viewer_address,
            "assetId": asset_id,
            "maintenanceId": maintenance_id,
            "number": number,
        }
        result: schemas.SignoffWithDocument = self._data("get_signoff", arguments, options)
        return result

    def get_signoff_proof(
        self,
        asset_id: str,
        maintenance_id: str,
        number: int,
        *,
        viewer_address: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.Proof:
        """Get the proof of a sign-off. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "viewerAddress": viewer_address,
            "assetId": asset_id,
            "maintenanceId": maintenance_id,
            "number": number,
        }
        result: schemas.Proof = self._data("get_signoff_proof", arguments, options)
        return result

    def publish_asset_page(
        self,
        asset_id: str,
        *,
        until: str,
        show: List[Literal["name", "assetId", "serialNumber", "partNumber", "usage", "state", "installedIn", "owner", "organisation"]],
        entries: schemas.PublishAssetPageEntries = UNSET,
        digital_link: schemas.PublishAssetPageDigitalLink = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.NewPublishedPage:
        """Publish a page of an asset. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "assetId": asset_id,
            "until": until,
            "show": show,
            "entries": entries,
            "digitalLink": digital_link,
        }
        result: schemas.NewPublishedPage = self._data("publish_asset_page", arguments, options)
        return result

    def list_published_asset_pages(
        self,
        asset_id: str,
        *,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.PublishedPage]:
        """List the published pages of an asset. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "cursor": cursor,
            "limit": limit,
            "assetId": asset_id,
        }
        result: Pages[schemas.PublishedPage] = self._pages("list_published_asset_pages", arguments, options)
        return result

    def revoke_published_asset_page(
        self,
        asset_id: str,
        page_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Revoke a published page of an asset. Needs the scope `assets:write`."""
        arguments: Dict[str, Any] = {
            "assetId": asset_id,
            "pageId": page_id,
        }
        self._data("revoke_published_asset_page", arguments, options)

    def download_asset_dossier(
        self,
        asset_id: str,
        *,
        viewer_address: str,
        attachments: bool = UNSET,
        wait: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Download:
        """Download the dossier of an asset. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "viewerAddress": viewer_address,
            "attachments": attachments,
            "wait": wait,
            "assetId": asset_id,
        }
        result: Download = self._data("download_asset_dossier", arguments, options)
        return result

    def get_dossier_proof(
        self,
        asset_id: str,
        dossier_id: str,
        *,
        viewer_address: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.Proof:
        """Get the proof of a dossier. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "viewerAddress": viewer_address,
            "assetId": asset_id,
            "dossierId": dossier_id,
        }
        result: schemas.Proof = self._data("get_dossier_proof", arguments, options)
        return result

    def get_release_certificate(
        self,
        asset_id: str,
        maintenance_id: str,
        *,
        viewer_address: str,
        options: Optional[CallOptions] = None,
    ) -> Download:
        """Get the release certificate of a maintenance entry. Needs the scope `assets:read`."""
        arguments: Dict[str, Any] = {
            "viewerAddress": viewer_address,
            "assetId": asset_id,
            "maintenanceId": maintenance_id,
        }
        result: Download = self._data("get_release_certificate", arguments, options)
        return result

    def list_events(
        self,
        *,
        type: Literal["file.anchor.confirmed", "file.validation.completed", "file.transfer.completed", "record.anchor.confirmed", "vault.deactivated", "vault.reactivated", "maintenance.anchor.confirmed", "maintenance.release.withdrawn", "asset.transfer.completed", "asset.changed", "asset.intervals.changed", "asset.page.published", "asset.page.ended", "anchor.reorged", "endpoint.disabled", "approval.requested", "approval.decided", "endpoint.failing", "api_key.expiring", "approval.waiting", "asset.maintenance.due", "worker.licence.expiring", "operator.gas.low", "operator.chain.behind", "operator.loop.failing", "operator.disk.low", "operator.budget.near"] = UNSET,
        order: Literal["oldest", "newest"] = UNSET,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Event]:
        """Read the event feed. Needs the scope `events:read`."""
        arguments: Dict[str, Any] = {
            "type": type,
            "order": order,
            "cursor": cursor,
            "limit": limit,
        }
        result: Pages[schemas.Event] = self._pages("list_events", arguments, options)
        return result

    def create_endpoint(
        self,
        *,
        url: str,
        event_types: List[Literal["file.anchor.confirmed", "file.validation.completed", "file.transfer.completed", "record.anchor.confirmed", "vault.deactivated", "vault.reactivated", "maintenance.anchor.confirmed", "maintenance.release.withdrawn", "asset.transfer.completed", "asset.changed", "asset.intervals.changed", "asset.page.published", "asset.page.ended", "anchor.reorged", "endpoint.disabled", "approval.requested", "approval.decided", "endpoint.failing", "api_key.expiring", "approval.waiting", "asset.maintenance.due", "worker.licence.expiring", "operator.gas.low", "operator.chain.behind", "operator.loop.failing", "operator.disk.low", "operator.budget.near", "file.*", "file.anchor.*", "file.validation.*", "file.transfer.*", "record.*", "record.anchor.*", "vault.*", "maintenance.*", "maintenance.anchor.*", "maintenance.release.*", "asset.*", "asset.transfer.*", "asset.intervals.*", "asset.page.*", "anchor.*", "endpoint.*", "approval.*", "api_key.*", "asset.maintenance.*", "worker.*", "worker.licence.*", "operator.*", "operator.gas.*", "operator.chain.*", "operator.loop.*", "operator.disk.*", "operator.budget.*", "*"]],
        filter: Optional[str] = UNSET,
        description: str = UNSET,
        enabled: bool = UNSET,
        rate_limit: Optional[int] = UNSET,
        ordering: Literal["none", "resource"] = UNSET,
        ed25519: bool = UNSET,
        headers: List[schemas.CreateEndpointHeaders] = UNSET,
        client_certificate: Optional[schemas.CreateEndpointClientCertificate] = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.CreatedEndpoint:
        """Create a webhook endpoint. Needs the scope `webhooks:write`."""
        arguments: Dict[str, Any] = {
            "url": url,
            "eventTypes": event_types,
            "filter": filter,
            "description": description,
            "enabled": enabled,
            "rateLimit": rate_limit,
            "ordering": ordering,
            "ed25519": ed25519,
            "headers": headers,
            "clientCertificate": client_certificate,
        }
        result: schemas.CreatedEndpoint = self._data("create_endpoint", arguments, options)
        return result

    def list_endpoints(
        self,
        *,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Endpoint]:
        """List webhook endpoints. Needs the scope `webhooks:read`."""
        arguments: Dict[str, Any] = {
            "cursor": cursor,
            "limit": limit,
        }
        result: Pages[schemas.Endpoint] = self._pages("list_endpoints", arguments, options)
        return result

    def get_endpoint(
        self,
        endpoint_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.Endpoint:
        """Get a webhook endpoint. Needs the scope `webhooks:read`."""
        arguments: Dict[str, Any] = {
            "endpointId": endpoint_id,
        }
        result: schemas.Endpoint = self._data("get_endpoint", arguments, options)
        return result

    def update_endpoint(
        self,
        endpoint_id: str,
        *,
        url: str = UNSET,
        event_types: List[Literal["file.anchor.confirmed", "file.validation.completed", "file.transfer.completed", "record.anchor.confirmed", "vault.deactivated", "vault.reactivated", "maintenance.anchor.confirmed", "maintenance.release.withdrawn", "asset.transfer.completed", "asset.changed", "asset.intervals.changed", "asset.page.published", "asset.page.ended", "anchor.reorged", "endpoint.disabled", "approval.requested", "approval.decided", "endpoint.failing", "api_key.expiring", "approval.waiting", "asset.maintenance.due", "worker.licence.expiring", "operator.gas.low", "operator.chain.behind", "operator.loop.failing", "operator.disk.low", "operator.budget.near", "file.*", "file.anchor.*", "file.validation.*", "file.transfer.*", "record.*", "record.anchor.*", "vault.*", "maintenance.*", "maintenance.anchor.*", "maintenance.release.*", "asset.*", "asset.transfer.*", "asset.intervals.*", "asset.page.*", "anchor.*", "endpoint.*", "approval.*", "api_key.*", "asset.maintenance.*", "worker.*", "worker.licence.*", "operator.*", "operator.gas.*", "operator.chain.*", "operator.loop.*", "operator.disk.*", "operator.budget.*", "*"]] = UNSET,
        filter: Optional[str] = UNSET,
        description: str = UNSET,
        enabled: bool = UNSET,
        rate_limit: Optional[int] = UNSET,
        ordering: Literal["none", "resource"] = UNSET,
        ed25519: bool = UNSET,
        headers: List[schemas.UpdateEndpointHeaders] = UNSET,
        client_certificate: Optional[schemas.UpdateEndpointClientCertificate] = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.SavedEndpoint:
        """Update a webhook endpoint. Needs the scope `webhooks:write`."""
        arguments: Dict[str, Any] = {
            "endpointId": endpoint_id,
            "url": url,
            "eventTypes": event_types,
            "filter": filter,
            "description": description,
            "enabled": enabled,
            "rateLimit": rate_limit,
            "ordering": ordering,
            "ed25519": ed25519,
            "headers": headers,
            "clientCertificate": client_certificate,
        }
        result: schemas.SavedEndpoint = self._data("update_endpoint", arguments, options)
        return result

    def delete_endpoint(
        self,
        endpoint_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Delete a webhook endpoint. Needs the scope `webhooks:write`."""
        arguments: Dict[str, Any] = {
            "endpointId": endpoint_id,
        }
        self._data("delete_endpoint", arguments, options)

    def test_endpoint(
        self,
        endpoint_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.EndpointTest:
        """Send a test event. Needs the scope `webhooks:write`."""
        arguments: Dict[str, Any] = {
            "endpointId": endpoint_id,
        }
        result: schemas.EndpointTest = self._data("test_endpoint", arguments, options)
        return result

    def get_endpoint_secret(
        self,
        endpoint_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.GetEndpointSecretResult:
        """Show the signing secret. Needs the scope `webhooks:write`."""
        arguments: Dict[str, Any] = {
            "endpointId": endpoint_id,
        }
        result: schemas.GetEndpointSecretResult = self._data("get_endpoint_secret", arguments, options)
        return result

    def rotate_endpoint_secret(
        self,
        endpoint_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.RotateEndpointSecretResult:
        """Rotate the signing secret. Needs the scope `webhooks:write`."""
        arguments: Dict[str, Any] = {
            "endpointId": endpoint_id,
        }
        result: schemas.RotateEndpointSecretResult = self._data("rotate_endpoint_secret", arguments, options)
        return result

    def list_endpoint_public_keys(
        self,
        endpoint_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.ListEndpointPublicKeysResult:
        """List the public keys of an endpoint. Needs the scope `webhooks:read`."""
        arguments: Dict[str, Any] = {
            "endpointId": endpoint_id,
        }
        result: schemas.ListEndpointPublicKeysResult = self._data("list_endpoint_public_keys", arguments, options)
        return result

    def rotate_endpoint_key_pair(
        self,
        endpoint_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.RotateEndpointKeyPairResult:
        """Rotate the key pair that signs. Needs the scope `webhooks:write`."""
        arguments: Dict[str, Any] = {
            "endpointId": endpoint_id,
        }
        result: schemas.RotateEndpointKeyPairResult = self._data("rotate_endpoint_key_pair", arguments, options)
        return result

    def list_deliveries(
        self,
        *,
        endpoint_id: str = UNSET,
        event_id: str = UNSET,
        status: Literal["pending", "delivering", "succeeded", "failed", "skipped"] = UNSET,
        type: str = UNSET,
        from_: str = UNSET,
        to: str = UNSET,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Delivery]:
        """List deliveries. Needs the scope `webhooks:read`."""
        arguments: Dict[str, Any] = {
            "endpointId": endpoint_id,
            "eventId": event_id,
            "status": status,
            "type": type,
            "from": from_,
            "to": to,
            "cursor": cursor,
            "limit": limit,
        }
        result: Pages[schemas.Delivery] = self._pages("list_deliveries", arguments, options)
        return result

    def get_delivery(
        self,
        delivery_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.DeliveryWithAttempts:
        """Get a delivery with every attempt. Needs the scope `webhooks:read`."""
        arguments: Dict[str, Any] = {
            "deliveryId": delivery_id,
        }
        result: schemas.DeliveryWithAttempts = self._data("get_delivery", arguments, options)
        return result

    def retry_delivery(
        self,
        delivery_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.Delivery:
        """Retry a delivery now. Needs the scope `webhooks:write`."""
        arguments: Dict[str, Any] = {
            "deliveryId": delivery_id,
        }
        result: schemas.Delivery = self._data("retry_delivery", arguments, options)
        return result

    def create_replay(
        self,
        endpoint_id: str,
        *,
        from_: str,
        to: str,
        status: Literal["succeeded", "failed", "skipped"] = UNSET,
        types: List[Literal["file.anchor.confirmed", "file.validation.completed", "file.transfer.completed", "record.anchor.confirmed", "vault.deactivated", "vault.reactivated", "maintenance.anchor.confirmed", "maintenance.release.withdrawn", "asset.transfer.completed", "asset.changed", "asset.intervals.changed", "asset.page.published", "asset.page.ended", "anchor.reorged", "endpoint.disabled", "approval.requested", "approval.decided", "endpoint.failing", "api_key.expiring", "approval.waiting", "asset.maintenance.due", "worker.licence.expiring", "operator.gas.low", "operator.chain.behind", "operator.loop.failing", "operator.disk.low", "operator.budget.near", "file.*", "file.anchor.*", "file.validation.*", "file.transfer.*", "record.*", "record.anchor.*", "vault.*", "maintenance.*", "maintenance.anchor.*", "maintenance.release.*", "asset.*", "asset.transfer.*", "asset.intervals.*", "asset.page.*", "anchor.*", "endpoint.*", "approval.*", "api_key.*", "asset.maintenance.*", "worker.*", "worker.licence.*", "operator.*", "operator.gas.*", "operator.chain.*", "operator.loop.*", "operator.disk.*", "operator.budget.*", "*"]] = UNSET,
        dry_run: bool = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.CreateReplayResult:
        """Replay past events. Needs the scope `webhooks:write`."""
        arguments: Dict[str, Any] = {
            "endpointId": endpoint_id,
            "from": from_,
            "to": to,
            "status": status,
            "types": types,
            "dryRun": dry_run,
        }
        result: schemas.CreateReplayResult = self._data("create_replay", arguments, options)
        return result

    def get_replay(
        self,
        replay_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.Replay:
        """Get a replay. Needs the scope `webhooks:read`."""
        arguments: Dict[str, Any] = {
            "replayId": replay_id,
        }
        result: schemas.Replay = self._data("get_replay", arguments, options)
        return result

    def cancel_replay(
        self,
        replay_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Cancel a replay. Needs the scope `webhooks:write`."""
        arguments: Dict[str, Any] = {
            "replayId": replay_id,
        }
        self._data("cancel_replay", arguments, options)

    def create_portal_link(
        self,
        endpoint_id: str,
        *,
        description: str = UNSET,
        valid_days: int = UNSET,
        may_change_url: bool = UNSET,
        may_manage_secret: bool = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.MadePortalLink:
        """Make a portal link of an endpoint. Needs the scope `webhooks:write`."""
        arguments: Dict[str, Any] = {
            "endpointId": endpoint_id,
            "description": description,
            "validDays": valid_days,
            "mayChangeUrl": may_change_url,
            "mayManageSecret": may_manage_secret,
        }
        result: schemas.MadePortalLink = self._data("create_portal_link", arguments, options)
        return result

    def list_portal_links(
        self,
        endpoint_id: str,
        *,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.PortalLink]:
        """List the portal links of an endpoint. Needs the scope `webhooks:read`."""
        arguments: Dict[str, Any] = {
            "cursor": cursor,
            "limit": limit,
            "endpointId": endpoint_id,
        }
        result: Pages[schemas.PortalLink] = self._pages("list_portal_links", arguments, options)
        return result

    def revoke_portal_link(
        self,
        endpoint_id: str,
        portal_link_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Revoke a portal link. Needs the scope `webhooks:write`."""
        arguments: Dict[str, Any] = {
            "endpointId": endpoint_id,
            "portalLinkId": portal_link_id,
        }
        self._data("revoke_portal_link", arguments, options)

    def open_portal(
        self,
        *,
        token: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.OpenPortal:
        """Look at the endpoint of a portal link."""
        arguments: Dict[str, Any] = {
            "token": token,
        }
        result: schemas.OpenPortal = self._data("open_portal", arguments, options)
        return result

    def list_portal_deliveries(
        self,
        *,
        token: str,
        status: Literal["pending", "delivering", "succeeded", "failed", "skipped"] = UNSET,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.PortalDelivery]:
        """List the deliveries to the endpoint of a portal link."""
        arguments: Dict[str, Any] = {
            "token": token,
            "status": status,
            "cursor": cursor,
            "limit": limit,
        }
        result: Pages[schemas.PortalDelivery] = self._pages("list_portal_deliveries", arguments, options)
        return result

    def get_portal_delivery(
        self,
        *,
        token: str,
        delivery_id: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.PortalDeliveryWithAttempts:
        """Get a delivery to the endpoint of a portal link."""
        arguments: Dict[str, Any] = {
            "token": token,
            "deliveryId": delivery_id,
        }
        result: schemas.PortalDeliveryWithAttempts = self._data("get_portal_delivery", arguments, options)
        return result

    def retry_portal_delivery(
        self,
        *,
        token: str,
        delivery_id: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.PortalDelivery:
        """Retry a delivery to the endpoint of a portal link."""
        arguments: Dict[str, Any] = {
            "token": token,
            "deliveryId": delivery_id,
        }
        result: schemas.PortalDelivery = self._data("retry_portal_delivery", arguments, options)
        return result

    def test_portal_endpoint(
        self,
        *,
        token: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.EndpointTest:
        """Send a test event to the endpoint of a portal link."""
        arguments: Dict[str, Any] = {
            "token": token,
        }
        result: schemas.EndpointTest = self._data("test_portal_endpoint", arguments, options)
        return result

    def change_portal_url(
        self,
        *,
        token: str,
        url: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.MovedEndpoint:
        """Change the URL of the endpoint of a portal link."""
        arguments: Dict[str, Any] = {
            "token": token,
            "url": url,
        }
        result: schemas.MovedEndpoint = self._data("change_portal_url", arguments, options)
        return result

    def get_portal_secret(
        self,
        *,
        token: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.GetPortalSecretResult:
        """Show the signing secret of the endpoint of a portal link."""
        arguments: Dict[str, Any] = {
            "token": token,
        }
        result: schemas.GetPortalSecretResult = self._data("get_portal_secret", arguments, options)
        return result

    def rotate_portal_secret(
        self,
        *,
        token: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.RotatePortalSecretResult:
        """Rotate the signing secret of the endpoint of a portal link."""
        arguments: Dict[str, Any] = {
            "token": token,
        }
        result: schemas.RotatePortalSecretResult = self._data("rotate_portal_secret", arguments, options)
        return result

    def create_api_key(
        self,
        *,
        name: str,
        scopes: List[Literal["vaults:read", "vaults:write", "files:read", "files:write", "records:read", "records:write", "assets:read", "assets:write", "workers:read", "workers:write", "webhooks:read", "webhooks:write", "events:read", "events:write", "keys:read", "keys:write", "audit:read", "audit:write", "approvals:read", "approvals:write", "signoffs:on-behalf"]] = UNSET,
        expires_at: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.CreatedApiKey:
        """Create an API key. Needs the scope `keys:write`."""
        arguments: Dict[str, Any] = {
            "name": name,
            "scopes": scopes,
            "expiresAt": expires_at,
        }
        result: schemas.CreatedApiKey = self._data("create_api_key", arguments, options)
        return result

    def list_api_keys(
        self,
        *,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.ApiKey]:
        """List API keys. Needs the scope `keys:read`."""
        arguments: Dict[str, Any] = {
            "cursor": cursor,
            "limit": limit,
        }
        result: Pages[schemas.ApiKey] = self._pages("list_api_keys", arguments, options)
        return result

    def revoke_api_key(
        self,
        key_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Revoke an API key. Needs the scope `keys:write`."""
        arguments: Dict[str, Any] = {
            "keyId": key_id,
        }
        self._data("revoke_api_key", arguments, options)

    def list_approvals(
        self,
        *,
        status: Literal["open", "approved", "refused", "withdrawn", "expired"] = UNSET,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Approval]:
        """List approvals. Needs the scope `approvals:read`."""
        arguments: Dict[str, Any] = {
            "status": status,
            "cursor": cursor,
            "limit": limit,
        }
        result: Pages[schemas.Approval] = self._pages("list_approvals", arguments, options)
        return result

    def get_approval(
        self,
        approval_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.Approval:
        """Get an approval. Needs the scope `approvals:read`."""
        arguments: Dict[str, Any] = {
            "approvalId": approval_id,
        }
        result: schemas.Approval = self._data("get_approval", arguments, options)
        return result

    def approve_step(
        self,
        approval_id: str,
        *,
        reason: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Approval:
        """Approve what somebody asked for. Needs the role `developer`."""
        arguments: Dict[str, Any] = {
            "approvalId": approval_id,
            "reason": reason,
        }
        result: schemas.Approval = self._data("approve_step", arguments, options)
        return result

    def refuse_step(
        self,
        approval_id: str,
        *,
        reason: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.Approval:
        """Refuse what somebody asked for. Needs the role `developer`."""
        arguments: Dict[str, Any] = {
            "approvalId": approval_id,
            "reason": reason,
        }
        result: schemas.Approval = self._data("refuse_step", arguments, options)
        return result

    def withdraw_step(
        self,
        approval_id: str,
        *,
        reason: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.Approval:
        """Withdraw what you asked for. Needs the scope `approvals:write`."""
        arguments: Dict[str, Any] = {
            "approvalId": approval_id,
            "reason": reason,
        }
        result: schemas.Approval = self._data("withdraw_step", arguments, options)
        return result

    def collect_approved_key(
        self,
        approval_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.CollectedApiKey:
        """Collect an approved API key. Needs the scope `approvals:write`."""
        arguments: Dict[str, Any] = {
            "approvalId": approval_id,
        }
        result: schemas.CollectedApiKey = self._data("collect_approved_key", arguments, options)
        return result

    def get_approval_rules(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.ApprovalRules:
        """Get the rules for approvals. Needs the role `viewer`."""
        arguments: Dict[str, Any] = {}
        result: schemas.ApprovalRules = self._data("get_approval_rules", arguments, options)
        return result

    def update_approval_rules(
        self,
        *,
        erase_content: bool = UNSET,
        transfer: bool = UNSET,
        wide_keys: bool = UNSET,
        expires_after_hours: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.ApprovalRules:
        """Change the rules for approvals. Needs the role `admin`."""
        arguments: Dict[str, Any] = {
            "eraseContent": erase_content,
            "transfer": transfer,
            "wideKeys": wide_keys,
            "expiresAfterHours": expires_after_hours,
        }
        result: schemas.ApprovalRules = self._data("update_approval_rules", arguments, options)
        return result

    def list_audit_entries(
        self,
        *,
        action: str = UNSET,
        actor_id: str = UNSET,
        target_id: str = UNSET,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.AuditEntry]:
        """List audit entries. Needs the scope `audit:read`."""
        arguments: Dict[str, Any] = {
            "action": action,
            "actorId": actor_id,
            "targetId": target_id,
            "cursor": cursor,
            "limit": limit,
        }
        result: Pages[schemas.AuditEntry] = self._pages("list_audit_entries", arguments, options)
        return result

    def list_passkeys(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Passkey]:
        """List your passkeys. Needs the role `viewer`."""
        arguments: Dict[str, Any] = {}
        result: Pages[schemas.Passkey] = self._pages("list_passkeys", arguments, options)
        return result

    def create_passkey(
        self,
        *,
        name: str,
        response: Dict[str, Any],
        options: Optional[CallOptions] = None,
    ) -> schemas.Passkey:
        """Register a passkey. Needs the role `viewer`."""
        arguments: Dict[str, Any] = {
            "name": name,
            "response": response,
        }
        result: schemas.Passkey = self._data("create_passkey", arguments, options)
        return result

    def get_passkey_options(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> Dict[str, Any]:
        """Begin to register a passkey. Needs the role `viewer`."""
        arguments: Dict[str, Any] = {}
        result: Dict[str, Any] = self._data("get_passkey_options", arguments, options)
        return result

    def remove_passkey(
        self,
        passkey_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Remove one of your passkeys. Needs the role `viewer`."""
        arguments: Dict[str, Any] = {
            "passkeyId": passkey_id,
        }
        self._data("remove_passkey", arguments, options)

    def get_me(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.Me:
        """Get the person who is signed in. Needs the role `viewer`."""
        arguments: Dict[str, Any] = {}
        result: schemas.Me = self._data("get_me", arguments, options)
        return result

    def create_workspace(
        self,
        *,
        name: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.Workspace:
        """Create a workspace. Needs the role `viewer`."""
        arguments: Dict[str, Any] = {
            "name": name,
        }
        result: schemas.Workspace = self._data("create_workspace", arguments, options)
        return result

    def list_members(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Member]:
        """List members. Needs the role `viewer`."""
        arguments: Dict[str, Any] = {}
        result: Pages[schemas.Member] = self._pages("list_members", arguments, options)
        return result

    def update_member(
        self,
        member_id: str,
        *,
        role: Literal["viewer", "developer", "admin", "owner"],
        options: Optional[CallOptions] = None,
    ) -> schemas.Member:
        """Change a member's role. Needs the role `admin`."""
        arguments: Dict[str, Any] = {
            "memberId": member_id,
            "role": role,
        }
        result: schemas.Member = self._data("update_member", arguments, options)
        return result

    def remove_member(
        self,
        member_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Remove a member, or leave the workspace. Needs the role `viewer`."""
        arguments: Dict[str, Any] = {
            "memberId": member_id,
        }
        self._data("remove_member", arguments, options)

    def list_sessions(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Session]:
        """List your sessions. Needs the role `viewer`."""
        arguments: Dict[str, Any] = {}
        result: Pages[schemas.Session] = self._pages("list_sessions", arguments, options)
        return result

    def end_all_sessions(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Sign out everywhere. Needs the role `viewer`."""
        arguments: Dict[str, Any] = {}
        self._data("end_all_sessions", arguments, options)

    def end_session(
        self,
        session_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """End one of your sessions. Needs the role `viewer`."""
        arguments: Dict[str, Any] = {
            "sessionId": session_id,
        }
        self._data("end_session", arguments, options)

    def get_sign_in_rules(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.SignInRules:
        """Get the rules for signing in. Needs the role `viewer`."""
        arguments: Dict[str, Any] = {}
        result: schemas.SignInRules = self._data("get_sign_in_rules", arguments, options)
        return result

    def update_sign_in_rules(
        self,
        *,
        require_second_factor: bool,
        options: Optional[CallOptions] = None,
    ) -> schemas.SignInRules:
        """Change the rules for signing in. Needs the role `owner`."""
        arguments: Dict[str, Any] = {
            "requireSecondFactor": require_second_factor,
        }
        result: schemas.SignInRules = self._data("update_sign_in_rules", arguments, options)
        return result

    def create_invitation(
        self,
        *,
        role: Literal["viewer", "developer", "admin", "owner"],
        email: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.CreatedInvitation:
        """Create an invitation. Needs the role `admin`."""
        arguments: Dict[str, Any] = {
            "email": email,
            "role": role,
        }
        result: schemas.CreatedInvitation = self._data("create_invitation", arguments, options)
        return result

    def list_invitations(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Invitation]:
        """List invitations. Needs the role `admin`."""
        arguments: Dict[str, Any] = {}
        result: Pages[schemas.Invitation] = self._pages("list_invitations", arguments, options)
        return result

    def withdraw_invitation(
        self,
        invitation_id: str,
        *,
        options: Optional[CallOptions] = None,
    ) -> None:
        """Withdraw an invitation. Needs the role `admin`."""
        arguments: Dict[str, Any] = {
            "invitationId": invitation_id,
        }
        self._data("withdraw_invitation", arguments, options)

    def look_up_invitation(
        self,
        *,
        token: str,
        options: Optional[CallOptions] = None,
    ) -> schemas.InvitationPreview:
        """Look up an invitation."""
        arguments: Dict[str, Any] = {
            "token": token,
        }
        result: schemas.InvitationPreview = self._data("look_up_invitation", arguments, options)
        return result

    def accept_invitation(
        self,
        *,
        token: str,
        name: str = UNSET,
        email: str = UNSET,
        password: str = UNSET,
        options: Optional[CallOptions] = None,
    ) -> schemas.InvitationPreview:
        """Accept an invitation."""
        arguments: Dict[str, Any] = {
            "token": token,
            "name": name,
            "email": email,
            "password": password,
        }
        result: schemas.InvitationPreview = self._data("accept_invitation", arguments, options)
        return result

    def list_notices(
        self,
        *,
        state: Literal["raised", "cleared"] = UNSET,
        cursor: str = UNSET,
        limit: int = UNSET,
        options: Optional[CallOptions] = None,
    ) -> Pages[schemas.Notice]:
        """List notices. Needs the scope `events:read`."""
        arguments: Dict[str, Any] = {
            "state": state,
            "cursor": cursor,
            "limit": limit,
        }
        result: Pages[schemas.Notice] = self._pages("list_notices", arguments, options)
        return result

    def get_notice_mail(
        self,
        *,
        options: Optional[CallOptions] = None,
    ) -> schemas.NoticeMail:
        """See whether you get mail about notices. Needs the role `viewer`."""
        arguments: Dict[str, Any] = {}
        result: schemas.NoticeMail = self._data("get_notice_mail", arguments, options)
        return result

    def set_notice_mail(
        self,
        *,
        wanted: bool,
        options: Optional[CallOptions] = None,
    ) -> schemas.NoticeMail:
        """Turn mail about notices on or off for yourself. Needs the role `viewer`."""
        arguments: Dict[str, Any] = {
            "wanted": wanted,
        }
        result: schemas.NoticeMail = self._data("set_notice_mail", arguments, options)
        return result
