/** Calls on the state after a block: eth_call, eth_estimateGas, eth_createAccessList. */
import { numberToHex } from 'viem';
import { nextBaseFee } from '../engine/header-fields.ts';
import type { CallAnswer, CallTemplate } from '../engine/protocol.ts';
import { parentOf } from '../engine/protocol.ts';
import { askEngine } from './ask-engine.ts';
import { readCallRequest } from './call-request.ts';
import { failed, faultOfCall, invalid } from './faults.ts';
import { findState } from './named-blocks.ts';
import type { Asked, Methods } from './needs.ts';
import { isAbsent } from './parameters.ts';

/** One more than the overrides of the state and of the block, which are refused by name. */
const most = 4;

export const callMethods: Methods = {
  eth_call: { most, handle: async (asked) => (await succeeded(asked, 'call')).data },
  eth_estimateGas: {
    most,
    handle: async (asked) => numberToHex((await succeeded(asked, 'estimate')).gasUsed),
  },
  eth_createAccessList: {
    most,
    async handle(asked) {
      const answer = await askEngine(asked, 'call', await readTemplate(asked));
      const { accessList, gasUsed, failure } = answer;
      const error = failure && (faultOfCall(answer)?.message ?? failure.reason);
      return { accessList, gasUsed: numberToHex(gasUsed), ...(error && { error }) };
    },
  },
};

async function succeeded(asked: Asked, method: 'call' | 'estimate'): Promise<CallAnswer> {
  const answer = await askEngine(asked, method, await readTemplate(asked));
  const fault = faultOfCall(answer);
  if (fault) throw fault;
  return answer;
}

async function readTemplate({ needs, params }: Asked): Promise<CallTemplate> {
  const [request, block, ...overrides] = params;
  const call = readCallRequest(request, needs.chainId);
  if (!overrides.every(isAbsent)) throw invalid('overrides of the state or of the block are not supported');
  const at = await findState(block, needs.results);
  const { gasPriceWei = 0n } = call;
  const baseFeeWei = nextBaseFee(at);
  if (gasPriceWei !== 0n && gasPriceWei < baseFeeWei) {
    throw failed(`max fee per gas less than block base fee: ${gasPriceWei} < ${baseFeeWei}`);
  }
  return { at: parentOf(at), call };
}
