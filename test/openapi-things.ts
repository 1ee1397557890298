/** One of each thing that a path can name, for tests that walk every route. */
import assert from 'node:assert/strict';
import { type Operation, type PathValues, someHash, someTarget } from './openapi-operations.ts';
import { waitUntil } from './process.ts';
import type { Service } from './service.ts';

const vaults = '/api-v1/platform/vaults';
const files = '/api-v1/platform/files';
const records = '/api-v1/platform/records';
const assets = '/api-v1/damc/assets/';
const webhooks = '/api-v1/platform/webhooks';

/** Made anew with each call; the service needs `webhookSettings`. `name` appears in whatever takes one. */
export async function makeThings(service: Service, name = 'Thing'): Promise<PathValues> {
  const make = async (path: string, body: object) => {
    const made = await service.call('POST', path, { body });
    assert.ok(made.status < 300, made.text);
    return made.json;
  };
  const vault = await make(vaults, { name });
  const record = await make(records, { vaultAddress: vault.address, data: { name }, externalId: name });
  const file = await make(files, { vaultAddress: vault.address, name, contentHash: someHash });
  const validation = await make(`${files}/${file.id}/validate`, { contentHash: someHash });
  const worker = await make('/api-v1/damc/workers/', { name });
  const { assetId } = await make(assets, { vaultAddress: vault.address, name });
  await make(`${assets}${assetId}/viewers/`, { viewers: [worker.address] });
  await make(`${assets}${assetId}/workers/`, { workers: [worker.address] });
  const lastDone = { at: new Date().toISOString() };
  const interval = await make(`${assets}${assetId}/intervals/`, { name, every: { days: 1 }, lastDone });
  const key = await make('/api-v1/platform/api-keys', { name });
  const endpoint = await make(`${webhooks}/endpoints`, {
    url: someTarget,
    eventTypes: ['vault.deactivated'],
    description: name,
  });
  // Deactivating is an event, so the endpoint gets a delivery.
  const startedAt = new Date(Date.now() - 60_000).toISOString();
  await service.call('PATCH', `${vaults}/${vault.address}/deactivate`);
  await service.call('PATCH', `${vaults}/${vault.address}/reactivate`);
  const delivery = await waitUntil(async () => {
    const query = `endpointId=${endpoint.id}&type=vault.deactivated`;
    return (await service.call('GET', `${webhooks}/deliveries?${query}`)).json[0] ?? null;
  });
  const replay = await make(`${webhooks}/endpoints/${endpoint.id}/replay`, {
    from: startedAt,
    to: new Date(Date.now() + 60_000).toISOString(),
  });
  return {
    vaultAddress: vault.address,
    recordId: record.id,
    fileId: file.id,
    validationId: validation.id,
    address: worker.address,
    assetId,
    intervalId: interval.id,
    keyId: key.id,
    endpointId: endpoint.id,
    deliveryId: delivery.id,
    replayId: replay.id,
  };
}

/** Things for one request: those given, or new ones when the request would take them away from the others. */
export async function thingsFor(
  service: Service,
  operation: Operation,
  things: PathValues,
): Promise<PathValues> {
  return operation.method === 'DELETE' ? makeThings(service) : things;
}
