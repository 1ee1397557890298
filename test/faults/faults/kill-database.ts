/** kill -9 of PostgreSQL under load; the service has to start it again by itself. */
import { waitUntil } from '../../process.ts';
import type { Fault } from '../fault.ts';

const longestHealingMs = 30_000;

export const killDatabase: Fault = {
  name: 'kill -9 of PostgreSQL',
  async strike({ nodes, store, count }) {
    const before = await store.pid();
    await store.kill();
    count('database killed');
    await waitUntil(async () => (await store.pid()) !== before, longestHealingMs);
    await waitUntil(() => nodes.isReady(nodes.first()), longestHealingMs);
  },
};
