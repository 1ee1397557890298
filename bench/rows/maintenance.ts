/**
 * `maintenance`: the lookup of an asset maintenance, against a bare route that does one SELECT by key. Each look is checked
 * against the asset's owner, workers and viewers, and is in the access log before it is answered.
 */
import { apiBase } from '../../src/http/api/api.ts';
import { readRow } from '../read-duel.ts';
import type { Row } from '../row.ts';
import { keyHeaders, type Service } from '../service.ts';
import { makeVaults } from '../vaults.ts';

const assets = 16;
const viewer = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

export const maintenance: Row = readRow({
  name: 'maintenance',
  what: 'GET a maintenance with its look logged, against one bare SELECT by key',
  makePaths: makeEntries,
  loggedIn: 'asset_access_log',
  atLeast: 0.9,
});

/** Entries of some assets that the viewer was let see; returns where the viewer sees them. */
async function makeEntries(service: Service, count: number): Promise<string[]> {
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${service.url}${apiBase}${path}`, {
      method: 'POST',
      headers: { ...keyHeaders(service), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path} was refused: ${await answer.text()}`);
    return (await answer.json()) as Record<string, string>;
  };
  const { address: workerAddress = '' } = await post('/damc/workers/', { name: 'Mia Berg' });
  const addresses = await makeVaults(service, assets);
  const made = await Promise.all(
    addresses.map(async (vaultAddress, number) => {
      const { assetId = '' } = await post('/damc/assets/', { vaultAddress, name: `Pump ${number}` });
      await post(`/damc/assets/${assetId}/workers/`, { workers: [workerAddress] });
      await post(`/damc/assets/${assetId}/viewers/`, { viewers: [viewer] });
      return assetId;
    }),
  );
  return Promise.all(
    Array.from({ length: count }, async (_, number) => {
      const path = `/damc/assets/${made[number % assets]}/maintenances/`;
      const { maintenanceId } = await post(path, {
        workerAddress,
        type: 'repair',
        summary: 'Seal replaced',
        performedAt: '2026-01-15T09:30:00Z',
      });
      return `${apiBase}${path}${maintenanceId}/?viewerAddress=${viewer}`;
    }),
  );
}
