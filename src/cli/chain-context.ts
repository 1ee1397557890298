/** Shared by the chain commands: the store, the keyring, and how errors of the chain are reported. */

import type { Keyring } from '../keys/keyring.ts';
import { OperatorError } from '../runtime/errors.ts';
import { type CommandContext, type StoreUse, withStore } from './command.ts';

export interface ChainCommandContext extends CommandContext {
  keyring: Keyring;
}

/** Reports errors of the chain or its node as a sentence. */
export async function withKeyring(
  work: (context: ChainCommandContext) => Promise<void>,
  use: StoreUse = {},
): Promise<void> {
  await withStore(async (context) => {
    // Imported here so that other commands start faster.
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
