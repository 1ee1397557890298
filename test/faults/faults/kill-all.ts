/** kill -9 of the service, of PostgreSQL and of the embedded chain, one right after the other, as when the machine goes down. */
import type { Fault } from '../fault.ts';

export const killAll: Fault = {
  name: 'kill -9 of the service, PostgreSQL and the embedded chain',
  async strike({ nodes, store, chain, count }, random) {
    const node = nodes.first();
    const kills = [() => store.kill(), () => nodes.kill(node), () => chain.killEmbedded(node.pid)];
    for (const kill of random.shuffle(kills)) await kill();
    count('service killed');
    count('database killed');
    if (chain.mode === 'embedded') count('chain killed');
    await nodes.startFirst();
  },
};
