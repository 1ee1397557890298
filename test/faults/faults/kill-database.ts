/** kill -9 of PostgreSQL under load; the service has to start it again by itself. */
import { expectSoon } from '../expect.ts';
import type { Fault } from '../fault.ts';

export const killDatabase: Fault = {
  name: 'kill -9 of PostgreSQL',
  async strike({ nodes, store, count }) {
    const before = await store.pid();
    await store.kill();
    count('database killed');
    await expectSoon('the database is started again', async () => (await store.pid()) !== before);
    await expectSoon('the node is ready again', () => nodes.isReady(nodes.first()));
  },
};
