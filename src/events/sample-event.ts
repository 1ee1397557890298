/** A sample event of each type, for the OpenAPI document. */
import { sample } from '../runtime/schemas.ts';
import { type EventData, type EventType, eventCatalogue } from './catalogue.ts';

type FieldName = { [T in EventType]: keyof EventData[T] }[EventType];

/** A field means the same in every type that has it. */
const fields: Record<FieldName, unknown> = {
  record_id: sample.recordId,
  file_id: sample.fileId,
  validation_id: sample.validationId,
  result: 'valid',
  integrity: true,
  authenticity: true,
  ownership: true,
  validated_at: sample.toldAt,
  vault_id: sample.vaultId,
  address: sample.vaultAddress,
  from_vault_id: sample.vaultId,
  to_vault_id: sample.otherVaultId,
  transferred_at: sample.anchoredAt,
  deactivated_at: sample.toldAt,
  reactivated_at: sample.toldAt,
  asset_id: sample.assetId,
  maintenance_id: sample.maintenanceId,
  interval_id: sample.intervalId,
  changed_at: sample.toldAt,
  version: 1,
  tx_hash: sample.transactionHash,
  block_number: sample.blockNumber,
  anchored_at: sample.anchoredAt,
  reorged_at: sample.toldAt,
  endpoint_id: sample.endpointId,
  url: sample.endpointUrl,
  reason: 'failing',
  disabled_at: sample.toldAt,
  notice_id: sample.noticeId,
  state: 'raised',
  since: sample.at,
  disabled: false,
  key_id: sample.keyId,
  name: 'Rope and brake',
  expires_at: '2026-03-12T00:00:00.000Z',
  due_by: 'hours',
  life_limit: false,
  worker_id: 'wrk_01KJPV8JR0K3V0QZ4N7X1C9T2A',
  scope: 'B1.1',
  number: 'AT.66.777',
  account: sample.otherVaultAddress,
  balance_wei: '21000000000000000',
  anchors_left: 450,
  trouble: 'chain_stands_still',
  loop: 'indexer',
  how: 'failing',
  node: 'holdfast-1',
  free_bytes: 1_500_000_000,
  of_workspace_id: sample.workspaceId,
  budget: 'anchors_per_day',
  used: 90_210_400,
  limit: 100_000_000,
};

export function sampleEventOf(type: EventType) {
  const names = Object.keys(eventCatalogue[type].data) as FieldName[];
  return {
    id: sample.eventId,
    type,
    timestamp: sample.toldAt,
    workspace_id: sample.workspaceId,
    data: Object.fromEntries(names.map((name) => [name, fields[name]])),
  };
}
