/** Every operation of the API, and how to call it. Generated from docs/openapi.json by `npm run openapi:accept`; do not edit. */
import type { Method, Operation } from './operation-types.ts';

export const operationTable = {
  getLiveness: {"method":"GET","path":"/healthz","query":[],"isRepeatable":true},
  getReadiness: {"method":"GET","path":"/readyz","query":[],"isRepeatable":true},
  getMetrics: {"method":"GET","path":"/metrics","query":[],"isRepeatable":true},
  createVault: {"method":"POST","path":"/api-v1/platform/vaults","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  listVaults: {"method":"GET","path":"/api-v1/platform/vaults","query":["status","cursor","limit"],"isList":true,"isRepeatable":true},
  getVault: {"method":"GET","path":"/api-v1/platform/vaults/{vaultAddress}","query":[],"isRepeatable":true},
  updateVault: {"method":"PUT","path":"/api-v1/platform/vaults/{vaultAddress}","query":[],"takesBody":true,"isRepeatable":true},
  deactivateVault: {"method":"PATCH","path":"/api-v1/platform/vaults/{vaultAddress}/deactivate","query":[],"isRepeatable":true},
  reactivateVault: {"method":"PATCH","path":"/api-v1/platform/vaults/{vaultAddress}/reactivate","query":[],"isRepeatable":true},
  listVaultTransactions: {"method":"POST","path":"/api-v1/platform/vaults/{vaultAddress}/transactions","query":[],"takesBody":true,"isList":true,"isRepeatable":true},
  createRecord: {"method":"POST","path":"/api-v1/platform/records","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  listRecords: {"method":"GET","path":"/api-v1/platform/records","query":["vaultAddress","externalId","status","from","to","cursor","limit"],"isList":true,"isRepeatable":true},
  createRecords: {"method":"POST","path":"/api-v1/platform/records/batch","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  getRecord: {"method":"GET","path":"/api-v1/platform/records/{recordId}","query":["version"],"isRepeatable":true},
  listRecordVersions: {"method":"GET","path":"/api-v1/platform/records/{recordId}/versions","query":["cursor","limit"],"isList":true,"isRepeatable":true},
  createRecordVersion: {"method":"POST","path":"/api-v1/platform/records/{recordId}/versions","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  getRecordProof: {"method":"GET","path":"/api-v1/platform/records/{recordId}/proof","query":["version"],"isRepeatable":true},
  eraseRecordData: {"method":"DELETE","path":"/api-v1/platform/records/{recordId}/data","query":["version"],"isRepeatable":true},
  getRetention: {"method":"GET","path":"/api-v1/platform/vaults/{vaultAddress}/retention","query":[],"isRepeatable":true},
  putRetention: {"method":"PUT","path":"/api-v1/platform/vaults/{vaultAddress}/retention","query":[],"takesBody":true,"isRepeatable":true},
  previewRetention: {"method":"GET","path":"/api-v1/platform/vaults/{vaultAddress}/retention/preview","query":["recordDays","fileDays"],"isRepeatable":true},
  putHold: {"method":"PUT","path":"/api-v1/platform/holds","query":[],"takesBody":true,"isRepeatable":true},
  listHolds: {"method":"GET","path":"/api-v1/platform/holds","query":["subjectId","cursor","limit"],"isList":true,"isRepeatable":true},
  listErasures: {"method":"GET","path":"/api-v1/platform/erasures","query":["subjectId","cursor","limit"],"isList":true,"isRepeatable":true},
  createFile: {"method":"POST","path":"/api-v1/platform/files","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  listFiles: {"method":"GET","path":"/api-v1/platform/files","query":["vaultAddress","status","name","cursor","limit"],"isList":true,"isRepeatable":true},
  getFile: {"method":"GET","path":"/api-v1/platform/files/{fileId}","query":[],"isRepeatable":true},
  listFileVersions: {"method":"GET","path":"/api-v1/platform/files/{fileId}/versions","query":["cursor","limit"],"isList":true,"isRepeatable":true},
  createFileVersion: {"method":"POST","path":"/api-v1/platform/files/{fileId}/versions","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  eraseFileContent: {"method":"DELETE","path":"/api-v1/platform/files/{fileId}/content","query":["version"],"isRepeatable":true},
  downloadFileContent: {"method":"GET","path":"/api-v1/platform/files/{fileId}/content","query":["version"],"isRepeatable":true,"isRaw":true},
  transferFile: {"method":"POST","path":"/api-v1/platform/files/{fileId}/transfer","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  getFileHistory: {"method":"GET","path":"/api-v1/platform/files/{fileId}/history","query":["format","proofs","cursor","limit"],"isRepeatable":true},
  getFileProof: {"method":"GET","path":"/api-v1/platform/files/{fileId}/proof","query":["version"],"isRepeatable":true},
  validateFile: {"method":"POST","path":"/api-v1/platform/files/{fileId}/validate","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  listFileValidations: {"method":"GET","path":"/api-v1/platform/files/{fileId}/validations","query":["cursor","limit"],"isList":true,"isRepeatable":true},
  getFileValidation: {"method":"GET","path":"/api-v1/platform/files/{fileId}/validations/{validationId}","query":[],"isRepeatable":true},
  getFileValidationProof: {"method":"GET","path":"/api-v1/platform/files/{fileId}/validations/{validationId}/proof","query":[],"isRepeatable":true},
  getFileCertificate: {"method":"GET","path":"/api-v1/platform/files/{fileId}/certificate","query":["version"],"isRepeatable":true,"isRaw":true},
  getFileEvidence: {"method":"GET","path":"/api-v1/platform/files/{fileId}/evidence","query":["version"],"isRepeatable":true,"isRaw":true},
  getRecordEvidence: {"method":"GET","path":"/api-v1/platform/records/{recordId}/evidence","query":["version"],"isRepeatable":true,"isRaw":true},
  getAuditLogProof: {"method":"GET","path":"/api-v1/platform/audit-log/proof","query":[],"isRepeatable":true},
  getStats: {"method":"GET","path":"/api-v1/platform/stats","query":["from","to"],"isRepeatable":true},
  getUsage: {"method":"GET","path":"/api-v1/platform/usage","query":[],"isRepeatable":true},
  createWorker: {"method":"POST","path":"/api-v1/damc/workers/","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  listWorkers: {"method":"GET","path":"/api-v1/damc/workers/","query":["cursor","limit"],"isList":true,"isRepeatable":true},
  getWorker: {"method":"GET","path":"/api-v1/damc/workers/{address}/","query":[],"isRepeatable":true},
  updateWorker: {"method":"PATCH","path":"/api-v1/damc/workers/{address}/","query":[],"takesBody":true,"isRepeatable":true},
  bindWorker: {"method":"PUT","path":"/api-v1/damc/workers/{address}/person/","query":[],"takesBody":true,"isRepeatable":true},
  unbindWorker: {"method":"DELETE","path":"/api-v1/damc/workers/{address}/person/","query":[],"isRepeatable":true},
  joinWorker: {"method":"PUT","path":"/api-v1/damc/workers/{address}/identity/","query":[],"takesBody":true,"isRepeatable":true},
  separateWorker: {"method":"DELETE","path":"/api-v1/damc/workers/{address}/identity/","query":[],"isRepeatable":true},
  createAsset: {"method":"POST","path":"/api-v1/damc/assets/","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  listAssets: {"method":"GET","path":"/api-v1/damc/assets/","query":["q","vaultAddress","serialNumber","parentAssetId","cursor","limit"],"isList":true,"isRepeatable":true},
  getAsset: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/","query":["viewerAddress"],"isRepeatable":true},
  updateAsset: {"method":"PUT","path":"/api-v1/damc/assets/{assetId}/","query":[],"takesBody":true,"isRepeatable":true},
  listAssetVersions: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/versions/","query":["viewerAddress","cursor","limit"],"isList":true,"isRepeatable":true},
  getAssetProof: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/proof/","query":["viewerAddress","version"],"isRepeatable":true},
  getAssetHistory: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/history/","query":["viewerAddress","cursor","limit"],"isRepeatable":true},
  transferAsset: {"method":"POST","path":"/api-v1/damc/assets/{assetId}/transfer/","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  listAssetTransfers: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/transfers/","query":["cursor","limit"],"isList":true,"isRepeatable":true},
  addAssetViewers: {"method":"POST","path":"/api-v1/damc/assets/{assetId}/viewers/","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  listAssetViewers: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/viewers/","query":["cursor","limit"],"isList":true,"isRepeatable":true},
  removeAssetViewer: {"method":"DELETE","path":"/api-v1/damc/assets/{assetId}/viewers/{address}/","query":[],"isRepeatable":true},
  verifyAssetViewer: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/viewers/verify/","query":["viewerAddress"],"isRepeatable":true},
  addAssetWorkers: {"method":"POST","path":"/api-v1/damc/assets/{assetId}/workers/","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  listAssetWorkers: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/workers/","query":["cursor","limit"],"isList":true,"isRepeatable":true},
  removeAssetWorker: {"method":"DELETE","path":"/api-v1/damc/assets/{assetId}/workers/{address}/","query":[],"isRepeatable":true},
  listAssetAccess: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/access-log/","query":["cursor","limit"],"isList":true,"isRepeatable":true},
  installAsset: {"method":"POST","path":"/api-v1/damc/assets/{assetId}/install/","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  removeAsset: {"method":"POST","path":"/api-v1/damc/assets/{assetId}/remove/","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  listAssetInstallations: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/installations/","query":["cursor","limit"],"isList":true,"isRepeatable":true},
  createAssetInterval: {"method":"POST","path":"/api-v1/damc/assets/{assetId}/intervals/","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  listAssetIntervals: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/intervals/","query":["cursor","limit"],"isList":true,"isRepeatable":true},
  updateAssetInterval: {"method":"PUT","path":"/api-v1/damc/assets/{assetId}/intervals/{intervalId}/","query":[],"takesBody":true,"isRepeatable":true},
  deleteAssetInterval: {"method":"DELETE","path":"/api-v1/damc/assets/{assetId}/intervals/{intervalId}/","query":[],"isRepeatable":true},
  listAssetDue: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/due/","query":["viewerAddress"],"isRepeatable":true},
  createMaintenance: {"method":"POST","path":"/api-v1/damc/assets/{assetId}/maintenances/","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  listMaintenances: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/maintenances/","query":["viewerAddress","type","from","to","status","cursor","limit"],"isList":true,"isRepeatable":true},
  countMaintenances: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/maintenances/count/","query":["viewerAddress","type","from","to"],"isRepeatable":true},
  getMaintenance: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/","query":["viewerAddress"],"isRepeatable":true},
  getMaintenanceDetails: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/details/","query":["viewerAddress"],"isRepeatable":true},
  getMaintenanceProof: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/proof/","query":["viewerAddress"],"isRepeatable":true},
  createSignoff: {"method":"POST","path":"/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/signoffs/","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  getSignoffRequest: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/signoffs/request/","query":["workerAddress","role","licenceScope"],"isRepeatable":true},
  getWorkRules: {"method":"GET","path":"/api-v1/damc/signoffs/rules/work/","query":[],"isRepeatable":true},
  changeWorkRules: {"method":"PUT","path":"/api-v1/damc/signoffs/rules/work/","query":[],"takesBody":true,"isRepeatable":true},
  getAssetWorkRules: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/rules/","query":[],"isRepeatable":true},
  changeAssetWorkRules: {"method":"PUT","path":"/api-v1/damc/assets/{assetId}/rules/","query":[],"takesBody":true,"isRepeatable":true},
  confirmWorkerPasskey: {"method":"POST","path":"/api-v1/damc/workers/{address}/passkeys/{passkeyId}/confirm","query":[],"takesBody":true},
  getPasskeyRegistrationRequest: {"method":"GET","path":"/api-v1/damc/workers/{address}/passkeys/{passkeyId}/sign","query":[],"isRepeatable":true},
  signPasskeyRegistration: {"method":"POST","path":"/api-v1/damc/workers/{address}/passkeys/{passkeyId}/sign","query":[],"takesBody":true},
  linkPasskeyRegistration: {"method":"POST","path":"/api-v1/damc/workers/{address}/passkeys/{passkeyId}/link","query":[]},
  openPasskeyRegistration: {"method":"POST","path":"/api-v1/damc/passkeys/open","query":[],"takesBody":true},
  signPasskeyRegistrationByLink: {"method":"POST","path":"/api-v1/damc/passkeys/sign","query":[],"takesBody":true},
  inviteWorker: {"method":"POST","path":"/api-v1/damc/workers/{address}/invite","query":[]},
  listWorkerPasskeys: {"method":"GET","path":"/api-v1/damc/workers/{address}/passkeys/","query":["cursor","limit"],"isList":true,"isRepeatable":true},
  refuseWorkerPasskey: {"method":"POST","path":"/api-v1/damc/workers/{address}/passkeys/{passkeyId}/refuse","query":[]},
  revokeWorkerPasskey: {"method":"POST","path":"/api-v1/damc/workers/{address}/passkeys/{passkeyId}/revoke","query":[],"takesBody":true},
  getPasskeyStatement: {"method":"GET","path":"/api-v1/damc/workers/{address}/passkeys/statements/{number}/","query":[],"isRepeatable":true},
  getPasskeyProof: {"method":"GET","path":"/api-v1/damc/workers/{address}/passkeys/statements/{number}/proof/","query":[],"isRepeatable":true},
  getWorkerPasskeyOptions: {"method":"POST","path":"/api-v1/damc/passkeys/options","query":[],"takesBody":true,"isRepeatable":true},
  registerWorkerPasskey: {"method":"POST","path":"/api-v1/damc/passkeys/register","query":[],"takesBody":true},
  requestSignature: {"method":"POST","path":"/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/signoffs/requests/","query":[],"takesBody":true},
  listSignatureRequests: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/signoffs/requests/","query":["cursor","limit"],"isList":true,"isRepeatable":true},
  withdrawSignatureRequest: {"method":"DELETE","path":"/api-v1/damc/sign-requests/{requestId}","query":[],"isRepeatable":true},
  openSignRequest: {"method":"POST","path":"/api-v1/damc/sign-requests/open","query":[],"takesBody":true},
  getSignRequestFile: {"method":"POST","path":"/api-v1/damc/sign-requests/file","query":[],"takesBody":true,"isRepeatable":true,"isRaw":true},
  signBySignRequest: {"method":"POST","path":"/api-v1/damc/sign-requests/sign","query":[],"takesBody":true},
  createWorkOrder: {"method":"POST","path":"/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/work-order/","query":["viewerAddress"],"takesBody":true,"isRaw":true},
  getSignoffRules: {"method":"GET","path":"/api-v1/damc/signoffs/rules/","query":[],"isRepeatable":true},
  changeSignoffRules: {"method":"PUT","path":"/api-v1/damc/signoffs/rules/","query":[],"takesBody":true,"isRepeatable":true},
  getOrganisation: {"method":"GET","path":"/api-v1/damc/signoffs/organisation/","query":[],"isRepeatable":true},
  changeOrganisation: {"method":"PUT","path":"/api-v1/damc/signoffs/organisation/","query":[],"takesBody":true,"isRepeatable":true},
  getSignoff: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/signoffs/{number}/","query":["viewerAddress"],"isRepeatable":true},
  getSignoffProof: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/signoffs/{number}/proof/","query":["viewerAddress"],"isRepeatable":true},
  publishAssetPage: {"method":"POST","path":"/api-v1/damc/assets/{assetId}/published-pages/","query":[],"takesBody":true},
  listPublishedAssetPages: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/published-pages/","query":["cursor","limit"],"isList":true,"isRepeatable":true},
  revokePublishedAssetPage: {"method":"DELETE","path":"/api-v1/damc/assets/{assetId}/published-pages/{pageId}/","query":[],"isRepeatable":true},
  downloadAssetDossier: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/dossier/","query":["viewerAddress","attachments","wait"],"isRepeatable":true,"isRaw":true},
  getDossierProof: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/dossiers/{dossierId}/proof/","query":["viewerAddress"],"isRepeatable":true},
  getReleaseCertificate: {"method":"GET","path":"/api-v1/damc/assets/{assetId}/maintenances/{maintenanceId}/release-certificate/","query":["viewerAddress"],"isRepeatable":true,"isRaw":true},
  listEvents: {"method":"GET","path":"/api-v1/platform/events","query":["type","order","cursor","limit"],"isList":true,"isRepeatable":true},
  streamEvents: {"method":"GET","path":"/api-v1/platform/events/stream","query":["type","cursor"],"isRepeatable":true,"isRaw":true},
  createEndpoint: {"method":"POST","path":"/api-v1/platform/webhooks/endpoints","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  listEndpoints: {"method":"GET","path":"/api-v1/platform/webhooks/endpoints","query":["cursor","limit"],"isList":true,"isRepeatable":true},
  getEndpoint: {"method":"GET","path":"/api-v1/platform/webhooks/endpoints/{endpointId}","query":[],"isRepeatable":true},
  updateEndpoint: {"method":"PATCH","path":"/api-v1/platform/webhooks/endpoints/{endpointId}","query":[],"takesBody":true,"isRepeatable":true},
  deleteEndpoint: {"method":"DELETE","path":"/api-v1/platform/webhooks/endpoints/{endpointId}","query":[],"isRepeatable":true},
  testEndpoint: {"method":"POST","path":"/api-v1/platform/webhooks/endpoints/{endpointId}/test","query":[]},
  getEndpointSecret: {"method":"GET","path":"/api-v1/platform/webhooks/endpoints/{endpointId}/secret","query":[],"isRepeatable":true},
  rotateEndpointSecret: {"method":"POST","path":"/api-v1/platform/webhooks/endpoints/{endpointId}/rotate-secret","query":[],"takesKey":true,"isRepeatable":true},
  listEndpointPublicKeys: {"method":"GET","path":"/api-v1/platform/webhooks/endpoints/{endpointId}/public-keys","query":[],"isRepeatable":true},
  rotateEndpointKeyPair: {"method":"POST","path":"/api-v1/platform/webhooks/endpoints/{endpointId}/rotate-key-pair","query":[],"takesKey":true,"isRepeatable":true},
  listDeliveries: {"method":"GET","path":"/api-v1/platform/webhooks/deliveries","query":["endpointId","eventId","status","type","from","to","cursor","limit"],"isList":true,"isRepeatable":true},
  getDelivery: {"method":"GET","path":"/api-v1/platform/webhooks/deliveries/{deliveryId}","query":[],"isRepeatable":true},
  retryDelivery: {"method":"POST","path":"/api-v1/platform/webhooks/deliveries/{deliveryId}/retry","query":[]},
  createReplay: {"method":"POST","path":"/api-v1/platform/webhooks/endpoints/{endpointId}/replay","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  getReplay: {"method":"GET","path":"/api-v1/platform/webhooks/replays/{replayId}","query":[],"isRepeatable":true},
  cancelReplay: {"method":"DELETE","path":"/api-v1/platform/webhooks/replays/{replayId}","query":[],"isRepeatable":true},
  createPortalLink: {"method":"POST","path":"/api-v1/platform/webhooks/endpoints/{endpointId}/portal-links","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  listPortalLinks: {"method":"GET","path":"/api-v1/platform/webhooks/endpoints/{endpointId}/portal-links","query":["cursor","limit"],"isList":true,"isRepeatable":true},
  revokePortalLink: {"method":"DELETE","path":"/api-v1/platform/webhooks/endpoints/{endpointId}/portal-links/{portalLinkId}","query":[],"isRepeatable":true},
  openPortal: {"method":"POST","path":"/api-v1/platform/webhooks/portal/open","query":[],"takesBody":true},
  listPortalDeliveries: {"method":"POST","path":"/api-v1/platform/webhooks/portal/deliveries","query":[],"takesBody":true,"isList":true,"isRepeatable":true},
  getPortalDelivery: {"method":"POST","path":"/api-v1/platform/webhooks/portal/delivery","query":[],"takesBody":true,"isRepeatable":true},
  retryPortalDelivery: {"method":"POST","path":"/api-v1/platform/webhooks/portal/retry","query":[],"takesBody":true},
  testPortalEndpoint: {"method":"POST","path":"/api-v1/platform/webhooks/portal/test","query":[],"takesBody":true},
  changePortalUrl: {"method":"POST","path":"/api-v1/platform/webhooks/portal/change-url","query":[],"takesBody":true},
  getPortalSecret: {"method":"POST","path":"/api-v1/platform/webhooks/portal/secret","query":[],"takesBody":true,"isRepeatable":true},
  rotatePortalSecret: {"method":"POST","path":"/api-v1/platform/webhooks/portal/rotate-secret","query":[],"takesBody":true},
  createApiKey: {"method":"POST","path":"/api-v1/platform/api-keys","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  listApiKeys: {"method":"GET","path":"/api-v1/platform/api-keys","query":["cursor","limit"],"isList":true,"isRepeatable":true},
  revokeApiKey: {"method":"DELETE","path":"/api-v1/platform/api-keys/{keyId}","query":[],"isRepeatable":true},
  listApprovals: {"method":"GET","path":"/api-v1/platform/approvals","query":["status","cursor","limit"],"isList":true,"isRepeatable":true},
  getApproval: {"method":"GET","path":"/api-v1/platform/approvals/{approvalId}","query":[],"isRepeatable":true},
  approveStep: {"method":"POST","path":"/api-v1/platform/approvals/{approvalId}/approve","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  refuseStep: {"method":"POST","path":"/api-v1/platform/approvals/{approvalId}/refuse","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  withdrawStep: {"method":"POST","path":"/api-v1/platform/approvals/{approvalId}/withdraw","query":[],"takesKey":true,"takesBody":true,"isRepeatable":true},
  collectApprovedKey: {"method":"POST","path":"/api-v1/platform/approvals/{approvalId}/collect","query":[],"takesKey":true,"isRepeatable":true},
  getApprovalRules: {"method":"GET","path":"/api-v1/platform/approval-rules","query":[],"isRepeatable":true},
  updateApprovalRules: {"method":"PUT","path":"/api-v1/platform/approval-rules","query":[],"takesBody":true,"isRepeatable":true},
  listAuditEntries: {"method":"GET","path":"/api-v1/platform/audit-log","query":["action","actorId","targetId","cursor","limit"],"isList":true,"isRepeatable":true},
  listPasskeys: {"method":"GET","path":"/api-v1/platform/passkeys","query":[],"isList":true,"isRepeatable":true},
  createPasskey: {"method":"POST","path":"/api-v1/platform/passkeys","query":[],"takesBody":true},
  getPasskeyOptions: {"method":"POST","path":"/api-v1/platform/passkeys/options","query":[],"isRepeatable":true},
  removePasskey: {"method":"DELETE","path":"/api-v1/platform/passkeys/{passkeyId}","query":[],"isRepeatable":true},
  getMe: {"method":"GET","path":"/api-v1/platform/me","query":[],"isRepeatable":true},
  createWorkspace: {"method":"POST","path":"/api-v1/platform/workspaces","query":[],"takesBody":true},
  listMembers: {"method":"GET","path":"/api-v1/platform/members","query":[],"isList":true,"isRepeatable":true},
  updateMember: {"method":"PATCH","path":"/api-v1/platform/members/{memberId}","query":[],"takesBody":true,"isRepeatable":true},
  removeMember: {"method":"DELETE","path":"/api-v1/platform/members/{memberId}","query":[],"isRepeatable":true},
  listSessions: {"method":"GET","path":"/api-v1/platform/sessions","query":[],"isList":true,"isRepeatable":true},
  endAllSessions: {"method":"DELETE","path":"/api-v1/platform/sessions","query":[],"isRepeatable":true},
  endSession: {"method":"DELETE","path":"/api-v1/platform/sessions/{sessionId}","query":[],"isRepeatable":true},
  getSignInRules: {"method":"GET","path":"/api-v1/platform/sign-in-rules","query":[],"isRepeatable":true},
  updateSignInRules: {"method":"PUT","path":"/api-v1/platform/sign-in-rules","query":[],"takesBody":true,"isRepeatable":true},
  createInvitation: {"method":"POST","path":"/api-v1/platform/invitations","query":[],"takesBody":true},
  listInvitations: {"method":"GET","path":"/api-v1/platform/invitations","query":[],"isList":true,"isRepeatable":true},
  withdrawInvitation: {"method":"DELETE","path":"/api-v1/platform/invitations/{invitationId}","query":[],"isRepeatable":true},
  lookUpInvitation: {"method":"POST","path":"/api-v1/platform/invitations/look","query":[],"takesBody":true},
  acceptInvitation: {"method":"POST","path":"/api-v1/platform/invitations/accept","query":[],"takesBody":true},
  listNotices: {"method":"GET","path":"/api-v1/platform/notices","query":["state","cursor","limit"],"isList":true,"isRepeatable":true},
  getNoticeMail: {"method":"GET","path":"/api-v1/platform/notices/mail","query":[],"isRepeatable":true},
  setNoticeMail: {"method":"PUT","path":"/api-v1/platform/notices/mail","query":[],"takesBody":true,"isRepeatable":true},
} as const satisfies Record<string, Operation>;

export interface Operations {
  /** Check that the process is alive. */
  getLiveness: Method<'getLiveness'>;
  /** Check that the service is ready. */
  getReadiness: Method<'getReadiness'>;
  /** Get metrics in Prometheus text format. */
  getMetrics: Method<'getMetrics'>;
  /** Create a vault. Needs the scope `vaults:write`. */
  createVault: Method<'createVault'>;
  /** List vaults. Needs the scope `vaults:read`. */
  listVaults: Method<'listVaults'>;
  /** Get a vault. Needs the scope `vaults:read`. */
  getVault: Method<'getVault'>;
  /** Update a vault. Needs the scope `vaults:write`. */
  updateVault: Method<'updateVault'>;
  /** Deactivate a vault. Needs the scope `vaults:write`. */
  deactivateVault: Method<'deactivateVault'>;
  /** Reactivate a vault. Needs the scope `vaults:write`. */
  reactivateVault: Method<'reactivateVault'>;
  /** List the transactions of a vault. Needs the scope `vaults:read`. */
  listVaultTransactions: Method<'listVaultTransactions'>;
  /** Create a record. Needs the scope `records:write`. */
  createRecord: Method<'createRecord'>;
  /** List records. Needs the scope `records:read`. */
  listRecords: Method<'listRecords'>;
  /** Create many records. Needs the scope `records:write`. */
  createRecords: Method<'createRecords'>;
  /** Get a record with its data. Needs the scope `records:read`. */
  getRecord: Method<'getRecord'>;
  /** List the versions of a record. Needs the scope `records:read`. */
  listRecordVersions: Method<'listRecordVersions'>;
  /** Add a version to a record. Needs the scope `records:write`. */
  createRecordVersion: Method<'createRecordVersion'>;
  /** Get the proof of a record. Needs the scope `records:read`. */
  getRecordProof: Method<'getRecordProof'>;
  /** Erase the data of a record. Needs the scope `records:write`. */
  eraseRecordData: Method<'eraseRecordData'>;
  /** Get the retention of a vault. Needs the scope `vaults:read`. */
  getRetention: Method<'getRetention'>;
  /** Set the retention of a vault. Needs the scope `vaults:write`. */
  putRetention: Method<'putRetention'>;
  /** Preview the retention of a vault. Needs the scope `vaults:read`. */
  previewRetention: Method<'previewRetention'>;
  /** Place or release a legal hold. Needs the scope `vaults:write`. */
  putHold: Method<'putHold'>;
  /** List legal holds. Needs the scope `vaults:read`. */
  listHolds: Method<'listHolds'>;
  /** List what was erased. Needs the scope `vaults:read`. */
  listErasures: Method<'listErasures'>;
  /** Create a file. Needs the scope `files:write`. */
  createFile: Method<'createFile'>;
  /** List files. Needs the scope `files:read`. */
  listFiles: Method<'listFiles'>;
  /** Get a file. Needs the scope `files:read`. */
  getFile: Method<'getFile'>;
  /** List the versions of a file. Needs the scope `files:read`. */
  listFileVersions: Method<'listFileVersions'>;
  /** Add a version to a file. Needs the scope `files:write`. */
  createFileVersion: Method<'createFileVersion'>;
  /** Erase the content of a file. Needs the scope `files:write`. */
  eraseFileContent: Method<'eraseFileContent'>;
  /** Download the content of a file. Needs the scope `files:read`. */
  downloadFileContent: Method<'downloadFileContent'>;
  /** Transfer a file to another vault. Needs the scope `files:write`. */
  transferFile: Method<'transferFile'>;
  /** Get the history of a file. Needs the scope `files:read`. */
  getFileHistory: Method<'getFileHistory'>;
  /** Get the proof of a file. Needs the scope `files:read`. */
  getFileProof: Method<'getFileProof'>;
  /** Validate a file. Needs the scope `files:write`. */
  validateFile: Method<'validateFile'>;
  /** List the validations of a file. Needs the scope `files:read`. */
  listFileValidations: Method<'listFileValidations'>;
  /** Get a validation of a file. Needs the scope `files:read`. */
  getFileValidation: Method<'getFileValidation'>;
  /** Get the proof of a validation. Needs the scope `files:read`. */
  getFileValidationProof: Method<'getFileValidationProof'>;
  /** Get the certificate of a file. Needs the scope `files:read`. */
  getFileCertificate: Method<'getFileCertificate'>;
  /** Get the evidence package of a file. Needs the scope `files:read`. */
  getFileEvidence: Method<'getFileEvidence'>;
  /** Get the evidence package of a record. Needs the scope `records:read`. */
  getRecordEvidence: Method<'getRecordEvidence'>;
  /** Get the proof of the audit log. Needs the scope `audit:read`. */
  getAuditLogProof: Method<'getAuditLogProof'>;
  /** Get statistics of the workspace. Needs the scope `events:read`. */
  getStats: Method<'getStats'>;
  /** Get budgets and usage. Needs the scope `events:read`. */
  getUsage: Method<'getUsage'>;
  /** Create a worker. Needs the scope `workers:write`. */
  createWorker: Method<'createWorker'>;
  /** List workers. Needs the scope `workers:read`. */
  listWorkers: Method<'listWorkers'>;
  /** Get a worker. Needs the scope `workers:read`. */
  getWorker: Method<'getWorker'>;
  /** Update a worker. Needs the scope `workers:write`. */
  updateWorker: Method<'updateWorker'>;
  /** Say which person a worker is. Needs the role `admin`. */
  bindWorker: Method<'bindWorker'>;
  /** Say that a worker is no longer that person. Needs the role `admin`. */
  unbindWorker: Method<'unbindWorker'>;
  /** Say that two workers are one person. Needs the scope `workers:write`. */
  joinWorker: Method<'joinWorker'>;
  /** Say that a worker is a person of their own. Needs the role `admin`. */
  separateWorker: Method<'separateWorker'>;
  /** Create an asset. Needs the scope `assets:write`. */
  createAsset: Method<'createAsset'>;
  /** List assets. Needs the scope `assets:read`. */
  listAssets: Method<'listAssets'>;
  /** Get an asset. Needs the scope `assets:read`. */
  getAsset: Method<'getAsset'>;
  /** Update an asset. Needs the scope `assets:write`. */
  updateAsset: Method<'updateAsset'>;
  /** List the versions of an asset. Needs the scope `assets:read`. */
  listAssetVersions: Method<'listAssetVersions'>;
  /** Get the proof of an asset. Needs the scope `assets:read`. */
  getAssetProof: Method<'getAssetProof'>;
  /** Get the history of an asset. Needs the scope `assets:read`. */
  getAssetHistory: Method<'getAssetHistory'>;
  /** Transfer an asset to another vault. Needs the scope `assets:write`. */
  transferAsset: Method<'transferAsset'>;
  /** List the transfers of an asset. Needs the scope `assets:read`. */
  listAssetTransfers: Method<'listAssetTransfers'>;
  /** Add viewers to an asset. Needs the scope `assets:write`. */
  addAssetViewers: Method<'addAssetViewers'>;
  /** List the viewers of an asset. Needs the scope `assets:read`. */
  listAssetViewers: Method<'listAssetViewers'>;
  /** Remove a viewer from an asset. Needs the scope `assets:write`. */
  removeAssetViewer: Method<'removeAssetViewer'>;
  /** Check whether an address may see an asset. Needs the scope `assets:read`. */
  verifyAssetViewer: Method<'verifyAssetViewer'>;
  /** Assign workers to an asset. Needs the scope `assets:write`. */
  addAssetWorkers: Method<'addAssetWorkers'>;
  /** List the workers assigned to an asset. Needs the scope `assets:read`. */
  listAssetWorkers: Method<'listAssetWorkers'>;
  /** Remove a worker from an asset. Needs the scope `assets:write`. */
  removeAssetWorker: Method<'removeAssetWorker'>;
  /** List accesses to an asset. Needs the scope `audit:read`. */
  listAssetAccess: Method<'listAssetAccess'>;
  /** Install an asset in another one. Needs the scope `assets:write`. */
  installAsset: Method<'installAsset'>;
  /** Remove an asset from the one it is installed in. Needs the scope `assets:write`. */
  removeAsset: Method<'removeAsset'>;
  /** List the installations of an asset. Needs the scope `assets:read`. */
  listAssetInstallations: Method<'listAssetInstallations'>;
  /** Create a maintenance interval. Needs the scope `assets:write`. */
  createAssetInterval: Method<'createAssetInterval'>;
  /** List the intervals of an asset. Needs the scope `assets:read`. */
  listAssetIntervals: Method<'listAssetIntervals'>;
  /** Update or complete an interval. Needs the scope `assets:write`. */
  updateAssetInterval: Method<'updateAssetInterval'>;
  /** Delete an interval. Needs the scope `assets:write`. */
  deleteAssetInterval: Method<'deleteAssetInterval'>;
  /** List what is due on an asset. Needs the scope `assets:read`. */
  listAssetDue: Method<'listAssetDue'>;
  /** Create a maintenance entry. Needs the scope `assets:write`. */
  createMaintenance: Method<'createMaintenance'>;
  /** List maintenance entries. Needs the scope `assets:read`. */
  listMaintenances: Method<'listMaintenances'>;
  /** Count maintenance entries. Needs the scope `assets:read`. */
  countMaintenances: Method<'countMaintenances'>;
  /** Get an asset maintenance. Needs the scope `assets:read`. */
  getMaintenance: Method<'getMaintenance'>;
  /** Get a maintenance entry with all its details. Needs the scope `assets:read`. */
  getMaintenanceDetails: Method<'getMaintenanceDetails'>;
  /** Get the proof of a maintenance entry. Needs the scope `assets:read`. */
  getMaintenanceProof: Method<'getMaintenanceProof'>;
  /** Sign off a maintenance entry. Needs the scope `assets:write`. */
  createSignoff: Method<'createSignoff'>;
  /** Get the typed data of a sign-off. Needs the scope `assets:read`. */
  getSignoffRequest: Method<'getSignoffRequest'>;
  /** Get the rules for types of work. Needs the scope `assets:read`. */
  getWorkRules: Method<'getWorkRules'>;
  /** Change the rules for types of work. Needs the role `admin`. */
  changeWorkRules: Method<'changeWorkRules'>;
  /** Get the rules of an asset. Needs the scope `assets:read`. */
  getAssetWorkRules: Method<'getAssetWorkRules'>;
  /** Change the rules of an asset. Needs the role `admin`. */
  changeAssetWorkRules: Method<'changeAssetWorkRules'>;
  /** Confirm whose passkey it is. Needs the role `admin`. */
  confirmWorkerPasskey: Method<'confirmWorkerPasskey'>;
  /** Get the typed data of a registration. Needs the scope `workers:read`. */
  getPasskeyRegistrationRequest: Method<'getPasskeyRegistrationRequest'>;
  /** Hand in the signature of a registration. Needs the scope `workers:write`. */
  signPasskeyRegistration: Method<'signPasskeyRegistration'>;
  /** Make a link to sign a registration by. Needs the scope `workers:write`. */
  linkPasskeyRegistration: Method<'linkPasskeyRegistration'>;
  /** Look at what a link asks to sign of another passkey. */
  openPasskeyRegistration: Method<'openPasskeyRegistration'>;
  /** Sign by a link that another passkey is one’s own. */
  signPasskeyRegistrationByLink: Method<'signPasskeyRegistrationByLink'>;
  /** Invite a worker to register a passkey. Needs the scope `workers:write`. */
  inviteWorker: Method<'inviteWorker'>;
  /** List the passkeys of a worker. Needs the scope `workers:read`. */
  listWorkerPasskeys: Method<'listWorkerPasskeys'>;
  /** Refuse a registration that was not the worker’s. Needs the role `admin`. */
  refuseWorkerPasskey: Method<'refuseWorkerPasskey'>;
  /** Revoke a passkey. Needs the scope `workers:write`. */
  revokeWorkerPasskey: Method<'revokeWorkerPasskey'>;
  /** Get what was anchored about a passkey. Needs the scope `workers:read`. */
  getPasskeyStatement: Method<'getPasskeyStatement'>;
  /** Get the proof of what was anchored about a passkey. Needs the scope `workers:read`. */
  getPasskeyProof: Method<'getPasskeyProof'>;
  /** Get what a browser needs to make a passkey. */
  getWorkerPasskeyOptions: Method<'getWorkerPasskeyOptions'>;
  /** Register a passkey with a link. */
  registerWorkerPasskey: Method<'registerWorkerPasskey'>;
  /** Make a link to sign by. Needs the scope `assets:write`. */
  requestSignature: Method<'requestSignature'>;
  /** List the links to sign an entry by. Needs the scope `assets:read`. */
  listSignatureRequests: Method<'listSignatureRequests'>;
  /** Withdraw a link to sign by. Needs the scope `assets:write`. */
  withdrawSignatureRequest: Method<'withdrawSignatureRequest'>;
  /** Look at what a link asks to sign. */
  openSignRequest: Method<'openSignRequest'>;
  /** Download a file of the entry that a link asks to sign. */
  getSignRequestFile: Method<'getSignRequestFile'>;
  /** Sign by a link. */
  signBySignRequest: Method<'signBySignRequest'>;
  /** Make a work order to print. Needs the scope `assets:write`. */
  createWorkOrder: Method<'createWorkOrder'>;
  /** Get the rules for sign-offs. Needs the scope `assets:read`. */
  getSignoffRules: Method<'getSignoffRules'>;
  /** Change the rules for sign-offs. Needs the role `admin`. */
  changeSignoffRules: Method<'changeSignoffRules'>;
  /** Get the organisation that releases work. Needs the scope `assets:read`. */
  getOrganisation: Method<'getOrganisation'>;
  /** Change the organisation that releases work. Needs the role `owner`. */
  changeOrganisation: Method<'changeOrganisation'>;
  /** Get a sign-off. Needs the scope `assets:read`. */
  getSignoff: Method<'getSignoff'>;
  /** Get the proof of a sign-off. Needs the scope `assets:read`. */
  getSignoffProof: Method<'getSignoffProof'>;
  /** Publish a page of an asset. Needs the scope `assets:write`. */
  publishAssetPage: Method<'publishAssetPage'>;
  /** List the published pages of an asset. Needs the scope `assets:read`. */
  listPublishedAssetPages: Method<'listPublishedAssetPages'>;
  /** Revoke a published page of an asset. Needs the scope `assets:write`. */
  revokePublishedAssetPage: Method<'revokePublishedAssetPage'>;
  /** Download the dossier of an asset. Needs the scope `assets:read`. */
  downloadAssetDossier: Method<'downloadAssetDossier'>;
  /** Get the proof of a dossier. Needs the scope `assets:read`. */
  getDossierProof: Method<'getDossierProof'>;
  /** Get the release certificate of a maintenance entry. Needs the scope `assets:read`. */
  getReleaseCertificate: Method<'getReleaseCertificate'>;
  /** Read the event feed. Needs the scope `events:read`. */
  listEvents: Method<'listEvents'>;
  /** Follow the event feed. Needs the scope `events:read`. */
  streamEvents: Method<'streamEvents'>;
  /** Create a webhook endpoint. Needs the scope `webhooks:write`. */
  createEndpoint: Method<'createEndpoint'>;
  /** List webhook endpoints. Needs the scope `webhooks:read`. */
  listEndpoints: Method<'listEndpoints'>;
  /** Get a webhook endpoint. Needs the scope `webhooks:read`. */
  getEndpoint: Method<'getEndpoint'>;
  /** Update a webhook endpoint. Needs the scope `webhooks:write`. */
  updateEndpoint: Method<'updateEndpoint'>;
  /** Delete a webhook endpoint. Needs the scope `webhooks:write`. */
  deleteEndpoint: Method<'deleteEndpoint'>;
  /** Send a test event. Needs the scope `webhooks:write`. */
  testEndpoint: Method<'testEndpoint'>;
  /** Show the signing secret. Needs the scope `webhooks:write`. */
  getEndpointSecret: Method<'getEndpointSecret'>;
  /** Rotate the signing secret. Needs the scope `webhooks:write`. */
  rotateEndpointSecret: Method<'rotateEndpointSecret'>;
  /** List the public keys of an endpoint. Needs the scope `webhooks:read`. */
  listEndpointPublicKeys: Method<'listEndpointPublicKeys'>;
  /** Rotate the key pair that signs. Needs the scope `webhooks:write`. */
  rotateEndpointKeyPair: Method<'rotateEndpointKeyPair'>;
  /** List deliveries. Needs the scope `webhooks:read`. */
  listDeliveries: Method<'listDeliveries'>;
  /** Get a delivery with every attempt. Needs the scope `webhooks:read`. */
  getDelivery: Method<'getDelivery'>;
  /** Retry a delivery now. Needs the scope `webhooks:write`. */
  retryDelivery: Method<'retryDelivery'>;
  /** Replay past events. Needs the scope `webhooks:write`. */
  createReplay: Method<'createReplay'>;
  /** Get a replay. Needs the scope `webhooks:read`. */
  getReplay: Method<'getReplay'>;
  /** Cancel a replay. Needs the scope `webhooks:write`. */
  cancelReplay: Method<'cancelReplay'>;
  /** Make a portal link of an endpoint. Needs the scope `webhooks:write`. */
  createPortalLink: Method<'createPortalLink'>;
  /** List the portal links of an endpoint. Needs the scope `webhooks:read`. */
  listPortalLinks: Method<'listPortalLinks'>;
  /** Revoke a portal link. Needs the scope `webhooks:write`. */
  revokePortalLink: Method<'revokePortalLink'>;
  /** Look at the endpoint of a portal link. */
  openPortal: Method<'openPortal'>;
  /** List the deliveries to the endpoint of a portal link. */
  listPortalDeliveries: Method<'listPortalDeliveries'>;
  /** Get a delivery to the endpoint of a portal link. */
  getPortalDelivery: Method<'getPortalDelivery'>;
  /** Retry a delivery to the endpoint of a portal link. */
  retryPortalDelivery: Method<'retryPortalDelivery'>;
  /** Send a test event to the endpoint of a portal link. */
  testPortalEndpoint: Method<'testPortalEndpoint'>;
  /** Change the URL of the endpoint of a portal link. */
  changePortalUrl: Method<'changePortalUrl'>;
  /** Show the signing secret of the endpoint of a portal link. */
  getPortalSecret: Method<'getPortalSecret'>;
  /** Rotate the signing secret of the endpoint of a portal link. */
  rotatePortalSecret: Method<'rotatePortalSecret'>;
  /** Create an API key. Needs the scope `keys:write`. */
  createApiKey: Method<'createApiKey'>;
  /** List API keys. Needs the scope `keys:read`. */
  listApiKeys: Method<'listApiKeys'>;
  /** Revoke an API key. Needs the scope `keys:write`. */
  revokeApiKey: Method<'revokeApiKey'>;
  /** List approvals. Needs the scope `approvals:read`. */
  listApprovals: Method<'listApprovals'>;
  /** Get an approval. Needs the scope `approvals:read`. */
  getApproval: Method<'getApproval'>;
  /** Approve what somebody asked for. Needs the role `developer`. */
  approveStep: Method<'approveStep'>;
  /** Refuse what somebody asked for. Needs the role `developer`. */
  refuseStep: Method<'refuseStep'>;
  /** Withdraw what you asked for. Needs the scope `approvals:write`. */
  withdrawStep: Method<'withdrawStep'>;
  /** Collect an approved API key. Needs the scope `approvals:write`. */
  collectApprovedKey: Method<'collectApprovedKey'>;
  /** Get the rules for approvals. Needs the role `viewer`. */
  getApprovalRules: Method<'getApprovalRules'>;
  /** Change the rules for approvals. Needs the role `admin`. */
  updateApprovalRules: Method<'updateApprovalRules'>;
  /** List audit entries. Needs the scope `audit:read`. */
  listAuditEntries: Method<'listAuditEntries'>;
  /** List your passkeys. Needs the role `viewer`. */
  listPasskeys: Method<'listPasskeys'>;
  /** Register a passkey. Needs the role `viewer`. */
  createPasskey: Method<'createPasskey'>;
  /** Begin to register a passkey. Needs the role `viewer`. */
  getPasskeyOptions: Method<'getPasskeyOptions'>;
  /** Remove one of your passkeys. Needs the role `viewer`. */
  removePasskey: Method<'removePasskey'>;
  /** Get the person who is signed in. Needs the role `viewer`. */
  getMe: Method<'getMe'>;
  /** Create a workspace. Needs the role `viewer`. */
  createWorkspace: Method<'createWorkspace'>;
  /** List members. Needs the role `viewer`. */
  listMembers: Method<'listMembers'>;
  /** Change a member's role. Needs the role `admin`. */
  updateMember: Method<'updateMember'>;
  /** Remove a member, or leave the workspace. Needs the role `viewer`. */
  removeMember: Method<'removeMember'>;
  /** List your sessions. Needs the role `viewer`. */
  listSessions: Method<'listSessions'>;
  /** Sign out everywhere. Needs the role `viewer`. */
  endAllSessions: Method<'endAllSessions'>;
  /** End one of your sessions. Needs the role `viewer`. */
  endSession: Method<'endSession'>;
  /** Get the rules for signing in. Needs the role `viewer`. */
  getSignInRules: Method<'getSignInRules'>;
  /** Change the rules for signing in. Needs the role `owner`. */
  updateSignInRules: Method<'updateSignInRules'>;
  /** Create an invitation. Needs the role `admin`. */
  createInvitation: Method<'createInvitation'>;
  /** List invitations. Needs the role `admin`. */
  listInvitations: Method<'listInvitations'>;
  /** Withdraw an invitation. Needs the role `admin`. */
  withdrawInvitation: Method<'withdrawInvitation'>;
  /** Look up an invitation. */
  lookUpInvitation: Method<'lookUpInvitation'>;
  /** Accept an invitation. */
  acceptInvitation: Method<'acceptInvitation'>;
  /** List notices. Needs the scope `events:read`. */
  listNotices: Method<'listNotices'>;
  /** See whether you get mail about notices. Needs the role `viewer`. */
  getNoticeMail: Method<'getNoticeMail'>;
  /** Turn mail about notices on or off for yourself. Needs the role `viewer`. */
  setNoticeMail: Method<'setNoticeMail'>;
}
