/** kill -9 of the service at named points between a batch and the event that tells of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { onNextCommit, withoutEvents } from '../commits.ts';
import { patienceMs } from '../expect.ts';
import type { Fault } from '../fault.ts';
import type { Fixture } from '../fixture.ts';
import { Violation } from '../violation.ts';

export const killWhenStored: Fault = {
  name: 'kill -9 when nonce and signed bytes are committed',
  async strike(fixture) {
    const { nodes, store, count } = fixture;
    const victim = nodes.first();
    await onNextCommit(store, { commit: 'attempt_stored', act: () => nodes.kill(victim) });
    count('service killed');
    count('killed after persist');
    await nodes.startFirst();
  },
};

/** Until the service is dead no event can be written: what is confirmed is confirmed, and nobody was told. */
export const killWhenConfirmed: Fault = {
  name: 'kill -9 when a batch is confirmed and not announced',
  async strike(fixture) {
    const { nodes, store, count } = fixture;
    const victim = nodes.first();
    await withoutEvents(store, () =>
      onNextCommit(store, { commit: 'batch_confirmed', act: () => nodes.kill(victim) }),
    );
    count('service killed');
    count('killed after receipt, before event');
    await nodes.startFirst();
  },
};

/** The bytes are stored, and the node has not got them. */
export const killBeforeBroadcast: Fault = {
  name: 'kill -9 before a broadcast reaches the node',
  strike: (fixture) => killAtBroadcast(fixture, 'before'),
};

/** The node has them, and the service never knew. */
export const killAfterBroadcast: Fault = {
  name: 'kill -9 after a broadcast reached the node',
  strike: (fixture) => killAtBroadcast(fixture, 'after'),
};

async function killAtBroadcast(fixture: Fixture, when: 'before' | 'after'): Promise<void> {
  const { nodes, chain, count } = fixture;
  const { proxy } = chain.rpc();
  const victim = nodes.first();
  const met = proxy.intercept('eth_sendRawTransaction', when, async () => {
    await nodes.kill(victim);
    return undefined;
  });
  const late = new AbortController();
  const inTime = await Promise.race([
    met.then(() => true),
    sleep(patienceMs, false, { signal: late.signal }),
  ]);
  late.abort();
  if (!inTime) throw new Violation(`nothing was broadcast within ${patienceMs} ms`);
  count('service killed');
  count(`killed ${when} broadcast`);
  await nodes.startFirst();
}
