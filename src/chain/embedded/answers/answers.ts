/** Answers JSON-RPC calls to the embedded chain from its stored results, the engine and the pool. */
import { accountMethods } from './accounts.ts';
import { blockMethods } from './blocks.ts';
import { callMethods } from './calls.ts';
import { faultOf, invalid, unknownMethod } from './faults.ts';
import { feeMethods } from './fee-history.ts';
import { logMethods } from './logs.ts';
import type { AnswersNeeds } from './needs.ts';
import { factMethods } from './node-facts.ts';
import { sendsTransaction, transactionMethods } from './transactions.ts';

export interface Answers {
  /** Throws RpcFault. `own`: a request of the service itself, which goes before those of others. */
  answer(method: string, params: readonly unknown[], options?: { own?: boolean }): Promise<unknown>;
}

/** A map, in which names that every object inherits are not found. */
const methods = new Map(
  Object.entries({
    ...factMethods,
    ...blockMethods,
    ...transactionMethods,
    ...accountMethods,
    ...callMethods,
    ...logMethods,
    ...feeMethods,
  }),
);

/** The names of all methods. None of them changes the chain, except by a signed transaction. */
export const answeredMethods: ReadonlySet<string> = new Set(methods.keys());

export function createAnswers(needs: AnswersNeeds): Answers {
  return {
    async answer(name, params, { own = false } = {}) {
      const method = methods.get(name);
      if (!method) throw unknownMethod(name);
      const { most, handle } = method;
      if (params.length > most) throw invalid(`${name} takes at most ${most} parameters`);
      try {
        return await handle({ needs, params, own });
      } catch (error) {
        throw faultOf(error, { sends: name === sendsTransaction });
      }
    },
  };
}
