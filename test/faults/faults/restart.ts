/** SIGTERM under load: what was under way is answered, everything stops, and the next start goes on. */
import type { Fault } from '../fault.ts';

export const restart: Fault = {
  name: 'restart by SIGTERM',
  async strike({ nodes, count }) {
    await nodes.stop(nodes.first());
    count('service restarted');
    await nodes.startFirst();
  },
};
