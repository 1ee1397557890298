/**
 * Two nodes share the work; one is stopped (SIGSTOP) with deliveries in its hands until its lease is over, and woken
 * again. The other takes them over, and what the first still has to say about them comes too late.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../../process.ts';
import type { Fault } from '../fault.ts';
import type { Node } from '../nodes.ts';
import { type Stage, webhookTimeoutMs } from '../stage.ts';
import { Violation } from '../violation.ts';

const patienceMs = 20_000;

export const stopPastLease: Fault = {
  name: 'one of two nodes stopped past its lease',
  async strike(stage, random) {
    const { nodes, receivers, count } = stage;
    const second = await nodes.startSecond();
    const both = [nodes.first(), second];
    await expect('both nodes send', async () =>
      (await Promise.all(both.map((node) => sentBy(stage, node)))).every((sent) => sent > 0),
    );

    const victim = random.pick(both);
    const refusedBefore = await refusedOf(stage, victim);
    // Answers that take their time, so that there is something in the victim's hands.
    receivers.setMood('slow');
    await waitUntil(async () => (await claims(stage)).length >= 20, patienceMs);
    nodes.freeze(victim);
    const atStop = (await claims(stage)).map(({ claim_id }) => claim_id);
    receivers.setMood('well');
    count('node stopped past its lease');

    // The other node is done with its own claims by then: what is left is the victim's.
    await sleep(2 * webhookTimeoutMs);
    const held = (await claims(stage)).filter(({ claim_id }) => atStop.includes(claim_id));
    await expect('the claims of a stopped node are taken over', async () => {
      const now = new Set((await claims(stage)).map(({ claim_id }) => claim_id));
      return held.every(({ claim_id }) => !now.has(claim_id));
    });

    nodes.wake(victim);
    await expect('a node that was stopped is ready again', () => nodes.isReady(victim));
    await expect('late results are refused', async () => {
      return (await refusedOf(stage, victim)) - refusedBefore >= held.length;
    });
    count('late results refused', (await refusedOf(stage, victim)) - refusedBefore);

    if (random.chance(0.5)) {
      await nodes.kill(second);
      count('second node killed');
    } else await nodes.stop(second);
  },
};

async function expect(what: string, ask: () => Promise<boolean>): Promise<void> {
  await waitUntil(ask, patienceMs).catch((cause) => {
    throw new Violation(`not within ${patienceMs} ms: ${what}`, [String(cause)]);
  });
}

async function claims({ store }: Stage): Promise<{ id: string; claim_id: string }[]> {
  return store.query('select id, claim_id from webhook_deliveries where open and claim_id is not null');
}

function sentBy({ nodes }: Stage, node: Node): Promise<number> {
  return nodes.figure(node, 'holdfast_webhook_deliveries_total');
}

function refusedOf({ nodes }: Stage, node: Node): Promise<number> {
  return nodes.figure(node, 'holdfast_webhook_refused_results_total');
}
