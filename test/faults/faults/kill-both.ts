/** kill -9 of the service and of PostgreSQL, one right after the other, as when the machine goes down. */
import type { Fault } from '../fault.ts';

export const killBoth: Fault = {
  name: 'kill -9 of the service and PostgreSQL',
  async strike({ nodes, store, count }, random) {
    const kills = [() => store.kill(), () => nodes.kill(nodes.first())];
    for (const kill of random.shuffle(kills)) await kill();
    count('service killed');
    count('database killed');
    await nodes.startFirst();
  },
};
