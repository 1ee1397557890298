/** kill -9 of the embedded chain's node under load; the service makes it again from the journal, with every block. */
import type { Fault } from '../fault.ts';

export const killChain: Fault = {
  name: 'kill -9 of the embedded chain',
  async strike({ chain, count }) {
    await chain.killEmbedded();
    count('chain killed');
  },
};

export const killServiceAndChain: Fault = {
  name: 'kill -9 of the service and the embedded chain',
  async strike({ chain, nodes, count }, random) {
    const kills = [() => chain.killEmbedded(), () => nodes.kill(nodes.first())];
    for (const kill of random.shuffle(kills)) await kill();
    count('service killed');
    count('chain killed');
    await nodes.startFirst();
  },
};
