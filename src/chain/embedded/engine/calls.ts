/** Runs calls on the state after a block, without changing it. */
import { createBlock } from '@ethereumjs/block';
import { createFeeMarket1559Tx } from '@ethereumjs/tx';
import { bytesToHex, createAddressFromString, createZeroAddress } from '@ethereumjs/util';
import { type RunTxResult, runTx } from '@ethereumjs/vm';
import type { Hex } from 'viem';
import { mostGas, nextBaseFee } from './header-fields.ts';
import type { CallAnswer, CallTemplate } from './protocol.ts';
import { headerOf } from './rules.ts';
import { openState, openVm, type StateNeeds } from './state.ts';
import { accountOf, InvalidRequest } from './transactions.ts';

/** Runs it as if it were the only transaction of the next block; without a gas price its gas is free. */
export async function runCall({ at, call }: CallTemplate, needs: StateNeeds): Promise<CallAnswer> {
  const { common } = needs;
  const from = call.from === undefined ? createZeroAddress() : createAddressFromString(call.from);
  const state = await openState(at.stateRoot, needs);
  const { balance } = await accountOf(state, from);
  const { valueWei = 0n, gasPriceWei = 0n, to, data, accessList = [] } = call;
  // Without a limit, as much as the sender can pay for.
  const affordable = gasPriceWei === 0n ? mostGas : Number((balance - valueWei) / gasPriceWei);
  const gasLimit = BigInt(Math.max(0, Math.min(call.gas ?? affordable, mostGas)));
  if (balance < valueWei + gasLimit * gasPriceWei) {
    throw new InvalidRequest('insufficient funds for gas * price + value');
  }
  const transaction = createFeeMarket1559Tx(
    {
      ...(to !== undefined && { to }),
      ...(data !== undefined && { data }),
      value: valueWei,
      gasLimit,
      maxFeePerGas: gasPriceWei,
      maxPriorityFeePerGas: 0n,
      accessList: accessList.map(({ address, storageKeys }) => ({ address, storageKeys })),
    },
    { common, freeze: false },
  );
  if (gasLimit < transaction.getIntrinsicGas()) throw new InvalidRequest('intrinsic gas too low');
  // It has no signature: whoever asks may name any sender.
  transaction.getSenderAddress = () => from;
  transaction.isSigned = () => true;
  const header = headerOf(
    {
      parentHash: at.hash,
      number: at.number + 1,
      timestampSeconds: at.timestampSeconds + 1,
      baseFeeWei: gasPriceWei === 0n ? 0n : nextBaseFee(at),
    },
    common,
  );
  const result = await runTx(await openVm(state, needs), {
    tx: transaction,
    block: createBlock({ header }, { common, freeze: false }),
    skipNonce: true,
    skipBalance: true,
    reportAccessList: true,
  });
  return {
    failure: failureOf(result),
    data: bytesToHex(result.execResult.returnValue),
    gasUsed: Number(result.totalGasSpent),
    accessList: (result.accessList ?? []) as { address: Hex; storageKeys: Hex[] }[],
  };
}

function failureOf({ execResult }: RunTxResult): CallAnswer['failure'] {
  const reason = execResult.exceptionError?.error;
  return reason === undefined ? null : { reverted: reason === 'revert', reason };
}

/** An estimate is at most this much above the gas that suffices. */
const tolerance = 0.015;

/** `gasUsed` of the answer is the estimate: the gas limit with which the call succeeds. */
export async function estimateGas({ at, call }: CallTemplate, needs: StateNeeds): Promise<CallAnswer> {
  const most = Math.min(call.gas ?? mostGas, mostGas);
  const whole = await runCall({ at, call: { ...call, gas: most } }, needs);
  if (whole.failure) return whole;
  const succeedsWith = async (gas: number) =>
    (await runCall({ at, call: { ...call, gas } }, needs)).failure === null;
  let tooLow = whole.gasUsed - 1;
  let enough = most;
  // Most calls need just what they use.
  if (whole.gasUsed < most && (await succeedsWith(whole.gasUsed))) {
    return whole;
  }
  while (enough - tooLow > 1 && (enough - tooLow) / enough > tolerance) {
    // The answer is usually near the lower end.
    const middle = Math.min(Math.floor((tooLow + enough) / 2), tooLow * 2);
    if (await succeedsWith(middle)) enough = middle;
    else tooLow = middle;
  }
  return { ...whole, gasUsed: enough };
}
