/** The call that anchors a root, with the gas that the chain requires. */
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
  /** How many transactions the batch has had: anchor() can revert only by running out of gas. */
  sends: number;
}

/** anchor() takes 46,283 gas (see contracts/README.md) for any size of batch; unused gas is not charged. */
const usualGas = 100_000;
/** The fee for data that a chain publishes on another chain can rise between the estimate and the block. */
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
   * Some chains charge gas for the bytes that they publish on another chain, many times the usual amount, and with less gas
   * they refuse the transaction for good. The estimate names no account: it costs the same and needs no balance.
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
