/** Puts workers, assets, maintenance entries and sign-offs into a service that is to be archived. */
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { waitUntil } from '../support/service/process.ts';
import type { Client, Json } from './client.ts';
import type { MadePlatform } from './platform.ts';
import type { Filled } from './summary.ts';

export interface MadeDamc extends Filled {
  /** With workers, owned by the first vault. */
  pump: string;
  mechanic: string;
}

const ownKey = privateKeyToAccount(generatePrivateKey());

export async function fillDamc(client: Client, platform: MadePlatform): Promise<MadeDamc> {
  const { harbour, airline } = platform.vaults;
  const workers = await hireAll(client);
  const [pump, aircraft, sold] = ['FP-2207', 'LN-FJA', 'SOLD-1'];
  await fillAssets(client, platform, { pump, aircraft, sold, workers });
  const entries = await fillEntries(client, platform, { pump, workers });

  const transfer = { destinationVaultAddress: airline.address };
  await client.post(`/damc/assets/${sold}/transfer/`, transfer);
  await waitUntil(async () => (await client.get(`/damc/assets/${sold}/`)).vaultAddress === airline.address);

  const read = (path: string) => ({ key: 'all', path: `/api-v1/damc/${path}` });
  const parts = ['', 'versions/', 'transfers/', 'viewers/', 'workers/', 'installations/', 'intervals/'];
  const viewed = (path: string) =>
    read(`assets/${pump}/maintenances/${path}?viewerAddress=${harbour.address}`);
  const [first, corrected] = entries;
  const detailOf = await client.get(viewed(`${corrected}/details/`).path.slice('/api-v1'.length));
  return {
    pump,
    mechanic: workers.mechanic,
    reads: [
      read('workers/?limit=1000'),
      read('assets/?limit=1000'),
      read(`assets/?parentAssetId=${aircraft}`),
      ...[pump, sold].flatMap((asset) => parts.map((part) => read(`assets/${asset}/${part}`))),
      viewed(''),
      viewed('count/'),
      ...entries.flatMap((id) => [viewed(`${id}/`), viewed(`${id}/details/`)]),
      ...[1, 2, 3].map((number) => viewed(`${corrected}/signoffs/${number}/`)),
    ],
    proofs: [
      { of: 'a superseded entry', path: viewed(`${first}/proof/`).path, content: null },
      {
        of: 'a maintenance entry',
        path: viewed(`${corrected}/proof/`).path,
        content: JSON.stringify(detailOf.entry),
      },
      { of: 'a certification', path: viewed(`${corrected}/signoffs/3/proof/`).path, content: null },
      { of: 'an asset', path: read(`assets/${sold}/proof/?version=1`).path, content: null },
    ],
  };
}

type Workers = Awaited<ReturnType<typeof hireAll>>;

async function hireAll(client: Client) {
  const hire = async (name: string, licences: object[], address?: string): Promise<string> => {
    const worker = await client.post('/damc/workers/', { name, ...(address && { address }) });
    await client.send('PATCH', `/damc/workers/${worker.address}/`, { licences });
    return worker.address;
  };
  const licence = (number: string, expiresAt: string | null, scope = 'overhaul') => ({
    scope,
    number,
    authority: 'EASA',
    expiresAt,
  });
  return {
    mechanic: await hire('Mia Berg', []),
    inspector: await hire('Jonas Lind', [
      licence('NO.66.4711', '2199-01-01T00:00:00.000Z'),
      licence('NO.66.4712', null, 'engine'),
    ]),
    // She keeps her key herself.
    certifier: await hire('Astrid Vik', [licence('NO.66.1042', null, '*')], ownKey.address),
    expired: await hire('Per Holm', [licence('NO.66.0815', '2020-01-01T00:00:00.000Z')]),
  };
}

interface Assets {
  pump: string;
  aircraft: string;
  sold: string;
  workers: Workers;
}

async function fillAssets(
  client: Client,
  { vaults }: MadePlatform,
  { pump, aircraft, sold, workers }: Assets,
) {
  const { harbour, airline, reopened } = vaults;
  const asset = (assetId: string | undefined, more: object) =>
    client.post('/damc/assets/', { vaultAddress: harbour.address, ...(assetId && { assetId }), ...more });
  await asset(aircraft, { name: 'Airbus A320-214', serialNumber: '2207' });
  await asset(pump, {
    name: 'Main engine fuel pump',
    serialNumber: 'FP-88213',
    partNumber: '714900-3',
    metadata: { manufacturer: 'Eaton', ataChapter: '73-11', notes: ['ü', { deep: 1.5 }] },
    usage: { hours: 11_204.5, cycles: 6_310 },
  });
  await asset(sold, { name: 'Starter', usage: { hours: 3 } });
  // One whose name is the service's.
  await asset(undefined, { name: 'Named by the service' });

  const below = (assetId: string, path: string, body: object) =>
    client.post(`/damc/assets/${assetId}/${path}`, body);
  await client.send('PUT', `/damc/assets/${pump}/`, { metadata: { manufacturer: 'Eaton', revised: true } });
  for (const assetId of [pump, sold]) {
    await below(assetId, 'workers/', { workers: Object.values(workers) });
    await below(assetId, 'install/', { parentAssetId: aircraft, at: '2026-01-02T08:00:00Z' });
    await below(assetId, 'remove/', { at: '2026-01-09T08:00:00Z' });
    await below(assetId, 'viewers/', { viewers: [airline.address] });
  }
  await below(pump, 'install/', { parentAssetId: aircraft, at: '2026-01-10T08:00:00Z' });
  await client.send('DELETE', `/damc/assets/${pump}/workers/${workers.expired}/`);

  await below(pump, 'viewers/', { viewers: [reopened.address], until: '2199-01-01T00:00:00Z' });
  const until = new Date(Date.now() + 1_500).toISOString();
  await below(pump, 'viewers/', {
    viewers: [ownKey.address.replace(/^0x..../, '0x0000').toLowerCase()],
    until,
  });
  await waitUntil(async () => (await client.get(`/damc/assets/${pump}/viewers/`)).length === 2);

  const lastDone = { at: '2026-01-01T00:00:00Z', hours: 11_000, cycles: 6_000 };
  const interval = await below(pump, 'intervals/', {
    name: 'Overhaul',
    every: { hours: 12_000, days: 3_650 },
    lastDone,
  });
  await below(pump, 'intervals/', { name: 'Filter', every: { cycles: 500 }, lastDone });
  const given = await below(pump, 'intervals/', { every: { days: 1 }, lastDone });
  await client.send('DELETE', `/damc/assets/${pump}/intervals/${given.id}/`);
  await client.send('PUT', `/damc/assets/${pump}/intervals/${interval.id}/`, {
    name: 'Overhaul in the shop',
  });
}

/** The ids of an overhaul, its correction, a defect that is closed, what closes it, and one that is open. */
async function fillEntries(
  client: Client,
  { report }: MadePlatform,
  { pump, workers }: Pick<Assets, 'pump' | 'workers'>,
): Promise<string[]> {
  const url = `/damc/assets/${pump}/maintenances/`;
  const enter = async (more: object): Promise<string> => {
    const entry = {
      workerAddress: workers.mechanic,
      type: 'overhaul',
      summary: 'Overhauled to CMM 73-11-04 revision 7.',
      performedAt: '2026-02-01T10:00:00Z',
      ...more,
    };
    return (await client.post(url, entry)).maintenanceId;
  };
  const signoff = (id: string, body: object) => client.post(`${url}${id}/signoffs/`, body);

  const first = await enter({ data: { torqueNm: 24.5, usage: { hours: 11_300 } }, fileIds: [report.id] });
  await signoff(first, { workerAddress: workers.mechanic, role: 'performed' });
  const corrected = await enter({ data: { torqueNm: 42.5 }, fileIds: [report.id], supersedes: first });
  await signoff(corrected, { workerAddress: workers.mechanic, role: 'performed' });
  await signoff(corrected, { workerAddress: workers.inspector, role: 'inspected' });
  await signOutside(client, `${url}${corrected}/signoffs/`, workers.certifier);

  const defect = {
    type: 'defect',
    summary: 'Seeps at the flange.',
    data: { deferred: { until: '2199-01-01' } },
  };
  const closed = await enter(defect);
  const closing = await enter({ type: 'repair', summary: 'Flange resealed.', data: { closes: [closed] } });
  const open = await enter(defect);
  return [first, corrected, closed, closing, open];
}

/** With a key that the service does not have. */
async function signOutside(client: Client, url: string, workerAddress: string): Promise<void> {
  const asked: Json = await client.get(`${url}request/?workerAddress=${workerAddress}&role=certified`);
  const { domain, types, primaryType, message, signedAt } = asked;
  const { EIP712Domain: _, ...signed } = types;
  const signature = await ownKey.signTypedData({ domain, types: signed, primaryType, message });
  await client.post(url, { workerAddress, role: 'certified', signature, signedAt });
}
