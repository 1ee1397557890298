/** kill -9 of the embedded chain's engine under load; the service starts another, which has every block. */
import type { Fault } from '../fault.ts';

export const killChain: Fault = {
  name: 'kill -9 of the embedded chain',
  async strike({ chain, nodes, count }) {
    // Only the one that leads has an engine.
    for (const { pid } of nodes.answering()) await chain.killEmbedded(pid);
    count('chain killed');
  },
};

export const killServiceAndChain: Fault = {
  name: 'kill -9 of the service and the embedded chain',
  async strike({ chain, nodes, count }, random) {
    const node = nodes.first();
    const kills = [() => chain.killEmbedded(node.pid), () => nodes.kill(node)];
    for (const kill of random.shuffle(kills)) await kill();
    count('service killed');
    count('chain killed');
    await nodes.startFirst();
  },
};
