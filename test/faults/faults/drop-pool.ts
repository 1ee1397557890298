/** The node forgets every transaction that waits to be mined; the service has to send its own again. */

import { expectSoon } from '../expect.ts';
import type { Fault } from '../fault.ts';
import { Violation } from '../violation.ts';

export const dropPool: Fault = {
  name: 'mempool dropped',
  async strike({ chain, count }) {
    const { anvil, inPool, withoutBlocks } = chain.rpc();
    await withoutBlocks(async () => {
      const before = await expectSoon('a transaction is in the pool', async () => {
        const hashes = await inPool();
        return hashes.length > 0 && hashes;
      });
      await anvil.client.request({ method: 'anvil_dropAllTransactions' } as never);
      if ((await inPool()).length >= before.length) throw new Violation('the pool was not dropped');
      count('transactions dropped from the pool', before.length);
    });
    count('pools dropped');
  },
};
