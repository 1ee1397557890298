/** The call that anchors a root, with as much gas as the chain wants for it. */
import { encodeFunctionData } from 'viem/utils';
import type { Chain } from '../../chain/chain.ts';
import { registryAbi } from '../../chain/registry/registry.ts';
import { rpcFaultOf } from '../../chain/rpc/json-rpc.ts';
import type { Outgoing } from '../../chain/sender/sender.ts';
import { toHex } from '../../proof/hex.ts';
import { anchorPurpose } from './batches.ts';

export interface AnchorOrder {
  root: Uint8Array;
  size: number;
  /** How many transactions it has had: running out of gas is the one way in which anchor() can revert. */
  sends: number;
}

/** anchor() takes 46,283 gas (see contracts/README.md), whatever the size of the batch; what is not used is not paid. */
const usualGas = 100_000;
/** Between the question and the block the price of what a chain publishes elsewhere can rise. */
const margin = 2;

export async function anchorCall(chain: Chain, { root, size, sends }: AnchorOrder): Promise<Outgoing> {
  const to = chain.registry;
  const data = encodeFunctionData({
    abi: registryAbi,
    functionName: 'anchor',
    args: [toHex(root), BigInt(size)],
  });
  const wanted = chain.embedded ? 0 : margin * (await estimate());
  return { purpose: anchorPurpose, to, data, gasLimit: Math.max(usualGas, wanted) * 2 ** sends };

  /**
   * Some chains count the bytes that they publish on another one as gas, many times the usual: with less they refuse the
   * transaction for good. Asked for nobody's account, which costs the same and needs no money.
   */
  async function estimate(): Promise<number> {
    try {
      return Number(await chain.client.estimateGas({ to, data }));
    } catch (error) {
      if (rpcFaultOf(error)?.kind !== 'refused') throw error;
      return 0;
    }
  }
}
