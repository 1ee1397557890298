/** Random actions by seed: in the end every payload is on the chain exactly once, and nonces have no gap. */
// tier: process
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Hex, numberToHex } from 'viem';
import { createRandom } from '../../../test/faults/random.ts';
import { rpcFailures } from '../../../test/support/chain/rpc-proxy.ts';
import {
  type Fixture,
  openFixture,
  startTestChain,
  type TestChain,
} from '../../../test/support/fixtures/sender-fixture.ts';
import { needs } from '../../../test/support/programs/needs.ts';
import { rpcFaultOf } from '../rpc/json-rpc.ts';

const { after, before, test } = needs('anvil');
let chain: TestChain;
before(async () => {
  chain = await startTestChain();
});
after(() => chain?.stop());

/** No reorg is deeper, so final blocks stay final. */
const deepestReorg = 10;
const actions = 80;

for (const seed of ['4801', '5003']) {
  test(`anchors each payload exactly once, whatever happens (seed ${seed})`, async (t) => {
    const fixture = await openFixture(t, chain, {
      confirmations: 2,
      blocksToFinality: deepestReorg + 2,
    });
    const sent = await shake(fixture, seed);
    await comeToRest(fixture);
    await judge(t, fixture, sent);
  });
}

/** Returns the call data by outgoing transaction id. */
async function shake(fixture: Fixture, seed: string): Promise<Map<number, Hex>> {
  const random = createRandom(seed);
  const sent = new Map<number, Hex>();
  const { client } = fixture.anvil;
  const firstBlock = Number(await client.getBlockNumber());
  let sender = fixture.sender;
  const ways: [weight: number, () => Promise<unknown>][] = [
    [
      10,
      async () => {
        const data = numberToHex(sent.size + 1, { size: 32 });
        const quote = await sender.quote(fixture.lead);
        const { id } = await fixture.lead.term.commit((db) =>
          sender.enqueue(db, quote, {
            purpose: 'anchor',
            to: `0x${'cd'.repeat(20)}`,
            data,
            gasLimit: 60_000,
          }),
        );
        sent.set(id, data);
      },
    ],
    [20, () => sender.step(fixture.lead)],
    [12, () => fixture.mine(random.between(1, 3))],
    [14, () => fixture.index()],
    [6, () => fixture.age(random.pick([12, 40]))],
    [
      5,
      async () => {
        const depth = random.between(1, deepestReorg);
        const head = Number(await client.getBlockNumber());
        if (head - depth > firstBlock)
          await client.request({ method: 'anvil_reorg', params: [depth, []] } as never);
      },
    ],
    [2, () => client.request({ method: 'anvil_dropAllTransactions' } as never)],
    // A process that dies: it loses its memory, and perhaps what it was about to store.
    [
      3,
      async () => {
        const dying = fixture.newSender({ applyOutcomes: () => Promise.reject(new Error('killed')) });
        await dying.step(fixture.lead);
      },
    ],
    [
      2,
      async () => {
        sender = fixture.newSender();
      },
    ],
    [
      5,
      () =>
        fixture.proxy.fail(random.pick(rpcFailures.filter((one) => one !== 'hang')), {
          times: random.between(1, 4),
          ...(random.chance(0.5) && { methods: ['eth_sendRawTransaction'] }),
        }),
    ],
    [5, async () => fixture.proxy.heal()],
    [2, () => useNonceElsewhere(fixture)],
  ];
  const weighted = ways.flatMap(([weight, act]) => Array<typeof act>(weight).fill(act));
  for (let count = 0; count < actions; count += 1) {
    try {
      await random.pick(weighted)();
    } catch (error) {
      const { message } = error as Error;
      if (rpcFaultOf(error) === null && message !== 'killed') throw error;
    }
  }
  return sent;
}

async function comeToRest(fixture: Fixture): Promise<void> {
  fixture.proxy.heal();
  const sender = fixture.newSender();
  for (let round = 0; round < 60; round += 1) {
    await fixture.age(60);
    await sender.step(fixture.lead);
    await fixture.mine();
    await fixture.index();
    const open = await fixture.db
      .selectFrom('outgoing_transactions')
      .select('id')
      .where('status', 'not in', ['confirmed', 'finalized', 'failed'])
      .execute();
    if (open.length === 0) return;
  }
  assert.fail(`still open: ${JSON.stringify(sender.status())} ${fixture.logged.slice(-5).join('\n')}`);
}

async function judge(t: TestContext, fixture: Fixture, sent: Map<number, Hex>): Promise<void> {
  const { client } = fixture.anvil;
  const onChain = new Map<Hex, { input: Hex; blockNumber: number }>();
  const headNumber = Number(await client.getBlockNumber());
  const { first: firstNumber } = await fixture.db
    .selectFrom('chain_blocks')
    .select((select) => select.fn.min('number').as('first'))
    .executeTakeFirstOrThrow();
  for (let number = Number(firstNumber); number <= headNumber; number += 1) {
    const block = await client.getBlock({ blockNumber: BigInt(number), includeTransactions: true });
    for (const { hash, from, input } of block.transactions) {
      if (from.toLowerCase() === fixture.account.address.toLowerCase())
        onChain.set(hash, { input, blockNumber: number });
    }
  }
  for (const [id, data] of sent) {
    const row = await fixture.row(id);
    assert.match(row.status, /^(confirmed|finalized)$/, `outgoing ${id}`);
    assert.ok(onChain.has(row.mined as Hex), `outgoing ${id} stands in a block of this chain`);
    const times = [...onChain.values()].filter(({ input }) => input === data).length;
    assert.equal(times, 1, `payload of outgoing ${id}`);
    const told = fixture.outcomes.filter(({ outgoingId }) => outgoingId === id).map(({ to }) => to);
    const count = (what: string) => told.filter((to) => to === what).length;
    assert.equal(count('confirmed'), count('reorged') + 1, told.join(' '));
    assert.equal(count('failed'), 0);
  }
  const rows = await fixture.db
    .selectFrom('outgoing_transactions')
    .select('nonce')
    .orderBy('nonce')
    .execute();
  const [first] = rows;
  assert.deepEqual(
    rows.map(({ nonce }) => nonce),
    rows.map((_, place) => (first?.nonce ?? 0) + place),
  );
  const bumps = fixture.logged.filter((line) => line.includes('higher fee')).length;
  const moved = fixture.logged.filter((line) => line.includes('nothing else may use')).length;
  const reorged = fixture.outcomes.filter(({ to }) => to === 'reorged').length;
  t.diagnostic(`${sent.size} payloads, ${reorged} reorged, ${bumps} raised, ${moved} moved to another nonce`);
}

async function useNonceElsewhere(fixture: Fixture): Promise<void> {
  const { address } = fixture.account;
  const raw = await fixture.account.signTransaction({
    chainId: fixture.lead.chain.chainId,
    type: 'eip1559',
    nonce: await fixture.anvil.client.getTransactionCount({ address }),
    to: address,
    gas: 21_000n,
    maxFeePerGas: 400n * 10n ** 9n,
    maxPriorityFeePerGas: 300n * 10n ** 9n,
  });
  await fixture.anvil.client.sendRawTransaction({ serializedTransaction: raw });
  await fixture.mine();
}
