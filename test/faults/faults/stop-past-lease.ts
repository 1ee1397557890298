/**
 * Two nodes share the work; one is stopped (SIGSTOP) with deliveries in its hands until its lease is over, and woken
 * again. The other takes them over, and what the first still has to say about them comes too late.
 */
import { waitUntil } from '../../process.ts';
import type { Fault } from '../fault.ts';
import type { Node } from '../nodes.ts';
import type { Stage } from '../stage.ts';
import { Violation } from '../violation.ts';

const patienceMs = 20_000;

export const stopPastLease: Fault = {
  name: 'one of two nodes stopped past its lease',
  async strike(stage, random) {
    const { nodes, count } = stage;
    const before = await nodeIds(stage);
    const second = await nodes.startSecond();
    const both = [nodes.first(), second];
    const secondId = await waitUntil(
      async () => (await nodeIds(stage)).find((id) => !before.includes(id)) ?? null,
      patienceMs,
    );
    await expect('both nodes send', async () =>
      (await Promise.all(both.map((node) => sentBy(stage, node)))).every((sent) => sent > 0),
    );

    const victim = random.pick(both);
    const refusedBefore = await refusedOf(stage, victim);
    const isVictims = (id: number) => (id === secondId) === (victim === second);
    const held = await freezeWithClaims(stage, { victim, isVictims });
    count('node stopped past its lease');
    await expect('the claims of a stopped node are taken over', async () => {
      const now = await claims(stage);
      return held.every((claimId) => !now.some(({ claim_id }) => claim_id === claimId));
    });

    nodes.wake(victim);
    await expect('a node that was stopped is ready again', () => nodes.isReady(victim));
    await expect(
      'late results are refused',
      async () => (await refusedOf(stage, victim)) - refusedBefore >= held.length,
    );
    count('late results refused', (await refusedOf(stage, victim)) - refusedBefore);

    if (random.chance(0.5)) {
      await nodes.kill(second);
      count('second node killed');
    } else await nodes.stop(second);
  },
};

/** Stops the node while it has deliveries in its hands; returns the claims of these, one for each. */
async function freezeWithClaims(
  stage: Stage,
  { victim, isVictims }: { victim: Node; isVictims(nodeId: number): boolean },
): Promise<string[]> {
  const { nodes, receivers } = stage;
  const victims = async () =>
    (await claims(stage)).filter(({ claimed_by }) => isVictims(claimed_by)).map(({ claim_id }) => claim_id);
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    // Answers that take their time, so that both nodes have something in their hands.
    receivers.setMood('slow');
    await expect('both nodes, and nobody else, have deliveries in their hands', async () => {
      const byNode = Map.groupBy(await claims(stage), ({ claimed_by }) => claimed_by);
      return byNode.size === 2 && [...byNode.values()].every(({ length }) => length >= 5);
    });
    nodes.freeze(victim);
    const atStop = new Set(await victims());
    receivers.setMood('well');
    // Looked at twice: a last statement of the victim may have been under way.
    const held = (await victims()).filter((claimId) => atStop.has(claimId));
    if (held.length > 0) return held;
    nodes.wake(victim);
  }
  throw new Error('the node never had a delivery in its hands when it was stopped');
}

async function expect(what: string, ask: () => Promise<boolean>): Promise<void> {
  await waitUntil(ask, patienceMs).catch((cause) => {
    throw new Violation(`not within ${patienceMs} ms: ${what}`, [String(cause)]);
  });
}

async function nodeIds({ store }: Stage): Promise<number[]> {
  return (await store.query<{ id: number }>('select id from webhook_nodes')).map(({ id }) => id);
}

async function claims({ store }: Stage): Promise<{ claim_id: string; claimed_by: number }[]> {
  return store.query('select claim_id, claimed_by from webhook_queue where claim_id is not null');
}

function sentBy({ nodes }: Stage, node: Node): Promise<number> {
  return nodes.figure(node, 'holdfast_webhook_deliveries_total');
}

function refusedOf({ nodes }: Stage, node: Node): Promise<number> {
  return nodes.figure(node, 'holdfast_webhook_refused_results_total');
}
