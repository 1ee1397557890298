/** Gas becomes dearer than what was offered: signed and not sent yet, or sent and waiting in the pool. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseGwei } from 'viem';
import { expectSoon } from '../expect.ts';
import type { Fault } from '../fault.ts';
import type { Fixture } from '../fixture.ts';

/** The service offers twice the base fee of its time, which is 1 gwei or less. */
const dear = parseGwei('40');

export const raiseFees: Fault = {
  name: 'fee too low',
  async strike(fixture, random) {
    const { chain, count } = fixture;
    const { proxy, inPool, withoutBlocks, setBaseFee } = chain.rpc();
    const before = await raised(fixture);
    if (random.chance(0.5)) {
      await proxy.fail('refuse', { methods: ['eth_sendRawTransaction'] });
      // By what is there, and not by the next one: while this one cannot be sent, there is none.
      await expectSoon('a transaction is signed and cannot be sent', () => hasUnsent(fixture));
      setBaseFee(dear);
      await sleep(1_500);
      proxy.heal();
    } else {
      await withoutBlocks(() =>
        expectSoon('a transaction is in the pool', async () => (await inPool()).length > 0),
      );
      setBaseFee(dear);
    }
    await expectSoon('a fee is raised', async () => (await raised(fixture)) > before);
    count('fees raised', (await raised(fixture)) - before);
    // Gas stays dear until what was signed is mined.
    await sleep(random.between(0, 3_000));
    setBaseFee(null);
  },
};

async function hasUnsent({ store }: Fixture): Promise<boolean> {
  const rows = await store.query("select 1 from outgoing_transactions where status = 'signed' limit 1");
  return rows.length > 0;
}

async function raised({ store }: Fixture): Promise<number> {
  const [row] = await store.query<{ count: number }>(
    'select count(*)::integer as count from outgoing_attempts where number > 1 and not no_op',
  );
  return row?.count ?? 0;
}
