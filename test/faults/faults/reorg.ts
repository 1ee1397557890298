/** The chain takes back its last 1 to 10 blocks, with the anchors in them; their transactions are in no pool. */

import { expectSoon } from '../expect.ts';
import type { Fault } from '../fault.ts';
import type { Fixture } from '../fixture.ts';
import type { Random } from '../random.ts';

export const reorg: Fault = {
  name: 'reorg, 1 to 10 blocks',
  strike: (fixture, random) => reorgBy(fixture, random, [1, 10]),
};

/** As deep as a confirmed anchor lies at least: what was told has to be taken back. */
export const deepReorg: Fault = {
  name: 'reorg of what was confirmed',
  strike: (fixture, random) => reorgBy(fixture, random, [fixture.chain.rpc().confirmations + 2, 10]),
};

async function reorgBy(
  fixture: Fixture,
  random: Random,
  range: [least: number, most: number],
): Promise<void> {
  const { chain, store, count } = fixture;
  const { anvil, withoutBlocks, confirmations } = chain.rpc();
  const depth = random.between(...range);
  const takesBack = range[0] > confirmations;
  await expectSoon('a batch is confirmed', async () => (await confirmedAbove(fixture, 0)).length > 0);
  const taken = await expectSoon('a batch was confirmed of late', () =>
    withoutBlocks(async () => {
      const head = Number(await anvil.client.getBlockNumber());
      await expectSoon('the indexer is at the head', async () => (await newestBlock(fixture)) === head);
      const taken = await confirmedAbove(fixture, head - depth);
      if (takesBack && taken.length === 0) return null;
      await anvil.client.request({ method: 'anvil_reorg', params: [depth, []] } as never);
      return taken;
    }),
  );
  count('reorgs');
  count('confirmed batches taken back', taken.length);
  for (const { id, transaction_hash } of taken) {
    await expectSoon(
      `anchor.reorged is told of batch ${id}`,
      async () =>
        (
          await store.query(
            `select 1 from events where type = 'anchor.reorged' and envelope::json -> 'data' ->> 'tx_hash' = $1`,
            [`0x${transaction_hash.toString('hex')}`],
          )
        ).length > 0,
    );
  }
}

async function newestBlock({ store }: Fixture): Promise<number | null> {
  const [row] = await store.query<{ number: number }>(
    'select max(number)::integer as number from chain_blocks',
  );
  return row?.number ?? null;
}

/** Whose transactions are in blocks above this one. */
function confirmedAbove(
  { store }: Fixture,
  number: number,
): Promise<{ id: number; transaction_hash: Buffer }[]> {
  return store.query(
    "select id, transaction_hash from anchor_batches where status in ('confirmed', 'finalized') and block_number > $1",
    [number],
  );
}
