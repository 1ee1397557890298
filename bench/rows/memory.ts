/** `memory`: the most that the service occupies under load: records by the thousand, singly, and vaults being read. */
import { reading, recordsPath } from '../anchoring.ts';
import { waitForRest } from '../cpu-time.ts';
import type { LoadRequest } from '../load.ts';
import type { Row } from '../row.ts';
import { keyHeaders } from '../service.ts';
import { makeVaults, vaultsPath } from '../vaults.ts';

const seconds = 8;
const toReachMb = 300;
const batchSize = 1_000;

export const memory: Row = {
  name: 'memory',
  what: 'memory of the service at its peak: records singly and by the thousand, reads, and the rows before',
  async measure(fixture) {
    const service = await fixture.service();
    const load = await fixture.load();
    const addresses = await makeVaults(service, 16);
    const headers = keyHeaders(service);
    const post = (path: string, body: object): LoadRequest => ({
      method: 'POST',
      path,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const vaultAddress = addresses[0];
    const records = Array.from({ length: batchSize }, (_, number) => reading(number));
    const loads = {
      singly: { connections: 64, requests: [post(recordsPath, { vaultAddress, ...reading(0) })] },
      batches: { connections: 8, requests: [post(`${recordsPath}/batch`, { vaultAddress, records })] },
      reads: {
        connections: 64,
        requests: addresses.map((address) => ({
          method: 'GET' as const,
          path: `${vaultsPath}/${address}`,
          headers,
        })),
      },
    };
    const peaksMb: Record<string, number> = { before: await service.peakMemoryMb() };
    for (const [name, one] of Object.entries(loads)) {
      const { errors, otherAnswers } = await load.run({ url: service.url, seconds, ...one });
      if (errors > 0 || Object.keys(otherAnswers).length > 0) {
        throw new Error(`${name}: ${errors} errors, other answers ${JSON.stringify(otherAnswers)}`);
      }
      // With what is left to background work: batches of 100,000 leaves, and their events.
      await waitForRest();
      peaksMb[name] = await service.peakMemoryMb();
    }
    const peakMb = await service.peakMemoryMb();
    return {
      comparisons: [
        {
          figure: 'peak',
          peer: null,
          holdfast: { value: peakMb, unit: 'MB', p99Ms: null },
          ratio: null,
          toReach: `≤ ${toReachMb} MB`,
          reached: peakMb <= toReachMb,
        },
      ],
      details: { seconds, peaksMb },
    };
  },
};
