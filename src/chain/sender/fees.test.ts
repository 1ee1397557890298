/** The fees offered for gas: twice the base fee, an eighth more for a replacement, never above the cap. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PublicClient } from 'viem';
import { fc } from '../../../test/support/service/properties.ts';
import { RpcFault } from '../rpc/json-rpc.ts';
import { raiseFees, readFees } from './fees.ts';

const gwei = 10n ** 9n;

test('offers twice the base fee plus the suggested priority fee', async () => {
  const fees = await readFees(chainWith({ baseFee: 7n * gwei, tip: 2n * gwei }), 500n * gwei);
  assert.deepEqual(fees, { legacy: false, maxFeeWei: 16n * gwei, priorityFeeWei: 2n * gwei });
});

test('offers nothing above the cap, including the priority fee', async () => {
  const dear = chainWith({ baseFee: 700n * gwei, tip: 20n * gwei });
  assert.deepEqual(await readFees(dear, 10n * gwei), {
    legacy: false,
    maxFeeWei: 10n * gwei,
    priorityFeeWei: 10n * gwei,
  });
});

test('uses one gas price on a chain without a base fee', async () => {
  const fees = await readFees(chainWith({ baseFee: null, gasPrice: 3n * gwei }), 500n * gwei);
  assert.deepEqual(fees, { legacy: true, maxFeeWei: 3n * gwei, priorityFeeWei: 3n * gwei });
});

test('assumes a default if the chain node refuses to suggest a fee, and throws if it is unreachable', async () => {
  const refuses = chainWith({
    baseFee: gwei,
    fault: new RpcFault('refused', 'no such method', { code: -32601 }),
  });
  assert.equal((await readFees(refuses, 500n * gwei)).priorityFeeWei, gwei);
  const fails = chainWith({ baseFee: gwei, fault: new RpcFault('unreachable', 'no answer') });
  await assert.rejects(readFees(fails, 500n * gwei), /no answer/);
});

test("a replacement offers an eighth more of both fees, or today's if higher, up to the cap", () => {
  const wei = fc.bigInt(0n, 10n ** 13n);
  const pair = fc.tuple(wei, wei).map(([one, other]) => ({
    legacy: false,
    maxFeeWei: one > other ? one : other,
    priorityFeeWei: one > other ? other : one,
  }));
  fc.assert(
    fc.property(pair, pair, wei, (former, present, capWei) => {
      const raised = raiseFees(former, present, capWei);
      const least = (fee: bigint) => fee * 9n;
      if (raised === null) {
        assert.ok(capWei * 8n < least(former.maxFeeWei) + 8n, 'only the cap forbids it');
        return;
      }
      assert.ok(raised.maxFeeWei <= capWei);
      assert.ok(raised.priorityFeeWei <= raised.maxFeeWei);
      for (const fee of ['maxFeeWei', 'priorityFeeWei'] as const) {
        assert.ok(raised[fee] > former[fee]);
        assert.ok(raised[fee] * 8n >= least(former[fee]));
        const wanted = present[fee] < capWei ? present[fee] : capWei;
        assert.ok(raised[fee] >= wanted);
      }
    }),
    { seed: 4803, numRuns: 1000 },
  );
});

function chainWith({
  baseFee,
  tip = gwei,
  gasPrice = gwei,
  fault,
}: {
  baseFee: bigint | null;
  tip?: bigint;
  gasPrice?: bigint;
  fault?: RpcFault;
}): PublicClient {
  return {
    getBlock: async () => ({ baseFeePerGas: baseFee }),
    getGasPrice: async () => gasPrice,
    async request() {
      if (fault) throw fault;
      return `0x${tip.toString(16)}`;
    },
  } as unknown as PublicClient;
}
