/** What a backup meets in the middle of a service at work, put into one that is to be archived. */
import { waitUntil } from '../support/service/process.ts';
import { type Client, connect, type Json } from './client.ts';
import type { MadeDamc } from './damc.ts';
import type { Installation } from './installation.ts';
import type { MadePlatform } from './platform.ts';
import type { Summary } from './summary.ts';
import type { MadeEndpoints } from './webhooks.ts';

type Left = Pick<Summary, 'pending' | 'waitingDelivery'>;

/**
 * A service that has made its first batch, and makes the next in an hour: until then what is accepted stays pending. Returns
 * its URL.
 */
export async function startWithoutBatches(
  { start, settled }: Installation,
  key: string,
  vaultAddress: string,
): Promise<string> {
  const silent = await start({ HOLDFAST_ROLES: 'api' });
  const data = { last: 'of the first batch' };
  await connect(silent.url, key).post('/platform/records', { vaultAddress, data });
  const { url } = await start({
    HOLDFAST_ANCHOR_INTERVAL_MS: '3600000',
    // Long enough for all that follows.
    HOLDFAST_WEBHOOK_RETRY_SCHEDULE: '60s',
  });
  await settled();
  return url;
}

interface Made {
  endpoints: MadeEndpoints;
  platform: MadePlatform;
  damc: MadeDamc;
}

/** Accepted and not anchored, handed over and not confirmed, sent and not taken. */
export async function leavePending(
  { chained, refuseMail }: Installation,
  client: Client,
  { endpoints, platform, damc }: Made,
): Promise<Left> {
  const { harbour, airline, reopened } = platform.vaults;
  await client.send('PATCH', `/platform/vaults/${reopened.address}/deactivate`);
  const waiting: Json = await waitUntil(async () => {
    const [delivery] = await client.get(
      `/platform/webhooks/deliveries?endpointId=${endpoints.failing.id}&status=pending`,
    );
    if (!delivery) return null;
    return (
      (await client.get(`/platform/webhooks/deliveries/${delivery.id}`)).attempts.length === 1 && delivery
    );
  });

  const vaultAddress = harbour.address;
  const destinationVaultAddress = airline.address;
  const record = await client.post('/platform/records', { vaultAddress, data: { pending: true } });
  const file = await client.upload('/platform/files', { vaultAddress }, { name: 'new.txt', text: 'new' });
  const { contentHash } = file;
  const validation = await client.post(`/platform/files/${file.id}/validate`, { contentHash });
  await client.post(`/platform/files/${platform.report.id}/transfer`, { destinationVaultAddress });
  const asset = await client.post('/damc/assets/', { vaultAddress, name: 'On its way' });
  await client.post(`/damc/assets/${asset.assetId}/transfer/`, { destinationVaultAddress });
  const entries = `/damc/assets/${damc.pump}/maintenances/`;
  const { maintenanceId } = await client.post(entries, {
    workerAddress: damc.mechanic,
    type: 'repair',
    summary: 'The last one before the backup.',
    performedAt: '2026-03-01T10:00:00Z',
  });
  await client.post(`${entries}${maintenanceId}/signoffs/`, {
    workerAddress: damc.mechanic,
    role: 'performed',
  });
  // Somebody has to be told, and the mail server takes nothing at the moment.
  refuseMail();
  const soon = new Date(Date.now() + 10 * 24 * 60 * 60 * 1000).toISOString();
  const licence = { scope: 'overhaul', number: 'NO.66.0816', authority: 'EASA', expiresAt: soon };
  const { id: workerId } = await client.send('PATCH', `/damc/workers/${damc.mechanic}/`, {
    licences: [licence],
  });
  await raised(client, { worker_id: workerId, endpoint_id: endpoints.failing.id });
  await chained();

  const anchored = ['confirmed', 'finalized'];
  const becomes = (path: string, member: string, oneOf: string[]) => ({
    key: 'all',
    path: `/api-v1${path}`,
    member,
    oneOf,
  });
  const pending = [
    becomes(`/platform/records/${record.id}`, 'status', anchored),
    becomes(`/platform/files/${file.id}`, 'status', anchored),
    becomes(`/platform/files/${file.id}/validations/${validation.id}`, 'result', ['valid']),
    becomes(`/platform/files/${platform.report.id}`, 'vaultAddress', [airline.address]),
    becomes(`/damc/assets/${asset.assetId}/`, 'vaultAddress', [airline.address]),
    becomes(`${entries}${maintenanceId}/details/?viewerAddress=${harbour.address}`, 'status', anchored),
  ];
  return { pending, waitingDelivery: { key: 'all', id: waiting.id, attempts: 1 } };
}

/** Waits until there are notices about these; that of an endpoint comes after most of a minute. */
async function raised(client: Client, about: Record<string, string>): Promise<void> {
  await waitUntil(async () => {
    const notices: Json[] = await client.get('/platform/notices?state=raised');
    return Object.entries(about).every(([member, id]) => notices.some(({ data }) => data[member] === id));
  }, 120_000);
}
