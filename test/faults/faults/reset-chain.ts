/**
 * Another chain stands behind the address, with the same id and another genesis, as when a development chain is started
 * anew. The service has to say so and to touch nothing of what it has; with the right chain back it goes on by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startFaultAnvil } from '../chain-rpc.ts';
import { expectSoon } from '../expect.ts';
import type { Fault } from '../fault.ts';
import type { Fixture } from '../fixture.ts';
import { saidBy } from '../nodes.ts';
import { Violation } from '../violation.ts';

const complaint = /another chain|a different chain|refused|was reset/;

export const resetChain: Fault = {
  name: 'chain reset to another genesis',
  async strike(fixture, random) {
    const { chain, nodes, count } = fixture;
    const { proxy, standIn, withoutBlocks, anvil, submitter } = chain.rpc();
    const other = await startFaultAnvil({ '0x0000000000000000000000000000000000000001': { balance: '0x1' } });
    try {
      await other.client.setBalance({ address: submitter, value: 10n ** 18n });
      // Early in a run it may be longer than ours.
      for (let chunks = random.between(1, 4); chunks > 0; chunks -= 1)
        await other.client.mine({ blocks: 15 });
      await withoutBlocks(async () => {
        const head = Number(await anvil.client.getBlockNumber());
        await expectSoon('what is mined is indexed', async () => (await indexed(fixture)) >= head);
        const saidBefore = said(fixture);
        // A node that was started anew breaks connections; behind a gateway nobody notices.
        if (random.chance(0.5)) await proxy.fail('refuse');
        standIn(other);
        await sleep(300);
        proxy.heal();
        const before = await kept(fixture);
        await expectSoon('the service says that this is another chain', () => said(fixture) > saidBefore, {
          facts: async () => [saidBy(nodes.first()).slice(-3_000)],
        });
        await sleep(random.between(500, 3_000));
        const after = await kept(fixture);
        if (before !== after)
          throw new Violation('a chain that is not ours changed what is stored', [before, after]);
        standIn(null);
      });
      count('chain resets');
    } finally {
      standIn(null);
      await other.stop();
    }
  },
};

/** How often the nodes have spoken of it. */
function said({ nodes }: Fixture): number {
  const texts = nodes.answering().map(saidBy);
  return texts
    .join('')
    .split('\n')
    .filter((line) => complaint.test(line)).length;
}

async function indexed({ store }: Fixture): Promise<number> {
  const [row] = await store.query<{ number: number | null }>(
    'select max(number)::integer as number from chain_blocks',
  );
  return row?.number ?? -1;
}

/** Whatever the chain has told so far, as one text. */
async function kept({ store }: Fixture): Promise<string> {
  const [row] = await store.query<{ text: string }>(`
    select concat_ws(' ',
      (select md5(string_agg(chain::text, '')) from chain),
      (select md5(string_agg(b::text, '' order by number)) from chain_blocks b),
      (select count(*) from chain_reorgs),
      (select md5(string_agg(v::text, '' order by v.*)) from vault_transactions v),
      (select md5(string_agg(t::text, '' order by id)) from outgoing_transactions t where block_number is not null),
      (select md5(string_agg(concat_ws(' ', id, status, block_number), '' order by id)) from anchor_batches b
       where block_number is not null),
      (select count(*) from events where type = 'anchor.reorged')) as text`);
  return row?.text ?? '';
}
