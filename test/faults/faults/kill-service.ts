/** kill -9 of the service under load; its PostgreSQL is left behind, and the next start has to adopt it. */
import type { Fault } from '../fault.ts';

export const killService: Fault = {
  name: 'kill -9 of the service',
  async strike({ nodes, count }) {
    await nodes.kill(nodes.first());
    count('service killed');
    await nodes.startFirst();
  },
};
