/** Which resource an event is about: events of the same one go to an ordered endpoint one after the other. */

/** The first of these that the data has; without any, all events of the type are one resource. */
const fields = [
  'asset_id',
  'record_id',
  'file_id',
  'worker_id',
  'key_id',
  'endpoint_id',
  'vault_id',
  'tx_hash',
  'notice_id',
] as const;

export function resourceOf({ type, data }: { type: string; data: Record<string, unknown> }): string {
  const field = fields.find((name) => typeof data[name] === 'string');
  return field === undefined ? type : String(data[field]);
}
