/** Receivers that behave and misbehave, and the endpoints that a service which is to be archived has for them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitUntil } from '../support/service/process.ts';
import type { Client, Json } from './client.ts';
import type { Question } from './summary.ts';

export interface Receivers {
  url: string;
  close(): Promise<void>;
}

/** The path says how they behave. */
export async function startReceivers(): Promise<Receivers> {
  const seen = new Set<string>();
  const server = createServer((request, response) => {
    request.resume();
    const event = `${request.url} ${request.headers['webhook-id']}`;
    const known = seen.has(event);
    seen.add(event);
    const status =
      { '/well': 204, '/failing': 500, '/gone': 410, '/unsteady': known ? 200 : 503 }[request.url ?? ''] ??
      404;
    response.writeHead(status).end(status === 204 ? undefined : 'noted');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface MadeEndpoints {
  well: Json;
  failing: Json;
  off: Json;
}

/** Before anything happens that they are told of. */
export async function fillEndpoints(client: Client, { url }: Receivers): Promise<MadeEndpoints> {
  const endpoint = (path: string, eventTypes: string[], more: object = {}) =>
    client.post('/platform/webhooks/endpoints', { url: `${url}/${path}`, eventTypes, ...more });
  const anchors = ['record.anchor.confirmed', 'file.anchor.confirmed', 'maintenance.anchor.confirmed'];
  const changes = ['file.transfer.completed', 'asset.transfer.completed', 'file.validation.completed'];
  const vaults = ['vault.deactivated', 'vault.reactivated'];
  const well = await client.post(
    '/platform/webhooks/endpoints',
    {
      url: `${url}/well`,
      eventTypes: [...anchors, ...changes, ...vaults, 'endpoint.disabled'],
      description: 'Takes everything',
      rateLimit: 500,
    },
    { 'idempotency-key': 'an-endpoint-with-a-secret' },
  );
  await client.post(`/platform/webhooks/endpoints/${well.id}/rotate-secret`);
  const portal = { description: 'For the terminal', mayManageSecret: true };
  await client.post(`/platform/webhooks/endpoints/${well.id}/portal-links`, portal);
  const failing = await endpoint('failing', vaults);
  await endpoint('unsteady', changes);
  await endpoint('well', ['asset.*'], {
    ordering: 'resource',
    filter: 'data.asset_id != "nothing"',
    ed25519: true,
    headers: [{ name: 'x-terminal-token', value: 'nothing that opens anything' }],
  });
  await endpoint('gone', ['maintenance.anchor.confirmed']);
  const off = await endpoint('well', ['record.anchor.confirmed'], { enabled: false });
  const removed = await endpoint('well', ['record.anchor.confirmed']);
  await client.send('DELETE', `/platform/webhooks/endpoints/${removed.id}`);
  return { well, failing, off };
}

/** Once there are deliveries: one tried again by hand, a range replayed. What is to be read of all of them. */
export async function repeatDeliveries(
  client: Client,
  { well, failing, off }: MadeEndpoints,
): Promise<Question[]> {
  const list = (query: string): Promise<Json[]> => client.get(`/platform/webhooks/deliveries?${query}`);
  const failed = await waitUntil(async () => {
    const [first] = await list(`endpointId=${failing.id}&status=failed`);
    return first ?? null;
  });
  await client.post(`/platform/webhooks/deliveries/${failed.id}/retry`);
  const range = { from: '2020-01-01T00:00:00Z', to: '2199-01-01T00:00:00Z' };
  const replay = await client.post(`/platform/webhooks/endpoints/${well.id}/replay`, {
    ...range,
    types: ['vault.deactivated', 'file.transfer.completed'],
  });
  await waitUntil(
    async () => (await client.get(`/platform/webhooks/replays/${replay.id}`)).status === 'completed',
  );
  const shown = [
    failed,
    ...(await list(`endpointId=${off.id}&limit=1`)),
    ...(await list('type=file.transfer.completed&limit=4')),
  ];
  const read = (path: string) => ({ key: 'all', path: `/api-v1/platform/webhooks/${path}` });
  return [
    read('endpoints?limit=1000'),
    read(`endpoints/${well.id}/portal-links`),
    read(`endpoints/${well.id}/secret`),
    read(`endpoints/${failing.id}/secret`),
    read('deliveries?limit=1000'),
    read(`replays/${replay.id}`),
    ...shown.map(({ id }) => read(`deliveries/${id}`)),
  ];
}
