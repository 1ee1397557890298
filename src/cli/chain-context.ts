/** What the commands of the chain share: the store, the keyring, and how they tell what the chain says. */

import type { Keyring } from '../keys/keyring.ts';
import { OperatorError } from '../runtime/errors.ts';
import { type CommandContext, type StoreUse, withStore } from './command.ts';

export interface ChainCommandContext extends CommandContext {
  keyring: Keyring;
}

/** What the chain itself or its node says is told in a sentence. */
export async function withKeyring(
  work: (context: ChainCommandContext) => Promise<void>,
  use: StoreUse = {},
): Promise<void> {
  await withStore(async (context) => {
    // Loaded here and not above: the other commands start sooner without it.
    const { openKeyring } = await import('../keys/keyring.ts');
    const { rpcFaultOf } = await import('../chain/rpc/json-rpc.ts');
    const keyring = await openKeyring({ db: context.store.database.db, source: context.config.masterKey });
    try {
      await work({ ...context, keyring });
    } catch (error) {
      const fault = rpcFaultOf(error);
      throw fault
        ? new OperatorError(`The chain cannot be used: ${fault.message}.`, { cause: error })
        : error;
    } finally {
      await keyring.close();
    }
  }, use);
}
