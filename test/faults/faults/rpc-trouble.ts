/** The RPC address misbehaves for a while, the way nodes and gateways do: for all calls, or for some of them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type RpcFailure, rpcFailures } from '../../support/chain/rpc-proxy.ts';
import type { Fault } from '../fault.ts';

const broadcasts = ['eth_sendRawTransaction'];
const looks = ['eth_getBlockByNumber', 'eth_getTransactionReceipt', 'eth_getTransactionCount'];
/** A call that hangs is given up after 10 s. */
const lastsMs: Record<RpcFailure, [least: number, most: number]> = {
  refuse: [500, 4_000],
  hang: [2_000, 12_000],
  '429': [500, 4_000],
  html502: [500, 4_000],
  truncated: [500, 4_000],
  drop: [500, 4_000],
  wrongChainId: [1_000, 4_000],
  staleHead: [1_000, 6_000],
};

export const rpcTroubles: Fault[] = rpcFailures.map(rpcTrouble);

export function rpcTrouble(failure: RpcFailure): Fault {
  return {
    name: `RPC: ${failure}`,
    async strike({ chain, count }, random) {
      const { proxy } = chain.rpc();
      // Who stands behind an address is asked anew after a failure.
      if (failure === 'wrongChainId') {
        await proxy.fail('refuse');
        await sleep(random.between(100, 500));
      }
      const whole = failure === 'wrongChainId' || failure === 'staleHead';
      const methods = whole ? undefined : random.pick([undefined, broadcasts, looks]);
      await proxy.fail(failure, methods && { methods });
      await sleep(random.between(...lastsMs[failure]));
      proxy.heal();
      count('RPC troubles');
    },
  };
}
