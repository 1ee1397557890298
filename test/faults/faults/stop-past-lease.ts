/**
 * Two nodes share the work; one is stopped (SIGSTOP) with deliveries in its hands until its lease is over, and woken
 * again. The other takes them over, and what the first still has to say about them comes too late.
 */
import { expectSoon } from '../expect.ts';
import type { Fault } from '../fault.ts';
import type { Fixture } from '../fixture.ts';
import type { Node } from '../nodes.ts';

export const stopPastLease: Fault = {
  name: 'one of two nodes stopped past its lease',
  async strike(fixture, random) {
    const { nodes, count } = fixture;
    const before = await nodeIds(fixture);
    const second = await nodes.startSecond();
    const both = [nodes.first(), second];
    const secondId = await expectSoon(
      'the second node is known',
      async () => (await nodeIds(fixture)).find((id) => !before.includes(id)) ?? null,
    );
    await expectSoon('both nodes send', async () =>
      (await Promise.all(both.map((node) => sentBy(fixture, node)))).every((sent) => sent > 0),
    );

    const victim = random.pick(both);
    const refusedBefore = await refusedOf(fixture, victim);
    const isVictims = (id: number) => (id === secondId) === (victim === second);
    const held = await freezeWithClaims(fixture, { victim, isVictims });
    count('node stopped past its lease');
    await expectSoon('the claims of a stopped node are taken over', async () => {
      const now = namesOf(await claims(fixture));
      return !held.some((name) => now.includes(name));
    });

    nodes.wake(victim);
    await expectSoon('a node that was stopped is ready again', () => nodes.isReady(victim));
    await expectSoon(
      'late results are refused',
      async () => (await refusedOf(fixture, victim)) - refusedBefore >= held.length,
      {
        facts: async () => [
          { held, refused: (await refusedOf(fixture, victim)) - refusedBefore },
          { claims: await claims(fixture) },
        ],
      },
    );
    count('late results refused', (await refusedOf(fixture, victim)) - refusedBefore);

    if (random.chance(0.5)) {
      await nodes.kill(second);
      count('second node killed');
    } else await nodes.stop(second);
  },
};

/**
 * Stops the node while it has deliveries in its hands; returns their names. A claim in the database is not enough: its
 * node may be dead, or may not have heard of it yet. What a receiver holds is in a node's hands.
 */
async function freezeWithClaims(
  fixture: Fixture,
  { victim, isVictims }: { victim: Node; isVictims(nodeId: number): boolean },
): Promise<string[]> {
  const { nodes, receivers } = fixture;
  return expectSoon('a node has deliveries in its hands when it is stopped', async () => {
    // Nobody answers, so that both nodes have something in their hands.
    receivers.setMood('held');
    await expectSoon('both nodes, and nobody else, have deliveries in their hands', async () => {
      const byNode = Map.groupBy(await claims(fixture), ({ claimed_by }) => claimed_by);
      return byNode.size === 2 && byNode.values().every((some) => some.some(isHeld));
    });
    nodes.freeze(victim);
    const atStop = await claims(fixture);
    const own = namesOf(atStop.filter((claim) => isVictims(claim.claimed_by) && isHeld(claim)));
    receivers.setMood('well');
    // A last statement of the victim may have been under way; while the other node ends its own, that is through.
    const others = namesOf(atStop.filter(({ claimed_by }) => !isVictims(claimed_by)));
    const left = await expectSoon('the other node goes on', async () => {
      const now = namesOf(await claims(fixture));
      return !others.some((name) => now.includes(name)) && now;
    });
    const held = own.filter((name) => left.includes(name));
    if (held.length > 0) return held;
    nodes.wake(victim);
    return null;
  });

  function isHeld({ endpoint_id, event_id }: Claim): boolean {
    return receivers.subscriptions.some(
      ({ endpointId, held }) =>
        endpointId === endpoint_id && held.some((one) => one.eventId === event_id && one.isWaiting()),
    );
  }
}

interface Claim {
  claim_id: string;
  claimed_by: number;
  endpoint_id: string;
  event_id: string;
}

/** A node claims many deliveries at once. */
function namesOf(claims: Claim[]): string[] {
  return claims.map(({ claim_id, endpoint_id, event_id }) => `${claim_id} ${endpoint_id} ${event_id}`);
}

async function nodeIds({ store }: Fixture): Promise<number[]> {
  return (await store.query<{ id: number }>('select id from webhook_nodes')).map(({ id }) => id);
}

async function claims({ store }: Fixture): Promise<Claim[]> {
  return store.query(
    'select claim_id, claimed_by, endpoint_id, event_id from webhook_queue where claim_id is not null',
  );
}

function sentBy({ nodes }: Fixture, node: Node): Promise<number> {
  return nodes.figure(node, 'holdfast_webhook_deliveries_total');
}

function refusedOf({ nodes }: Fixture, node: Node): Promise<number> {
  return nodes.figure(node, 'holdfast_webhook_refused_results_total');
}
