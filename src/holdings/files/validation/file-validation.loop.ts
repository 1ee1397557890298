/** Makes the validations of files that were asked for, as long as this node leads on the chain. */
import type { Lead } from '../../../chain/chain.ts';
import { rpcFaultOf } from '../../../chain/rpc/json-rpc.ts';
import { type Loop, repeating, type Wakeup } from '../../../runtime/loop.ts';
import type { FileValidator } from './file-validator.ts';

export interface FileValidationLoopOptions {
  lead(): Lead | null;
  /** Woken when a validation was asked for. */
  wakeup: Wakeup;
}

export function fileValidationLoop(
  validator: FileValidator,
  { lead, wakeup }: FileValidationLoopOptions,
): Loop {
  const loop = repeating({
    name: 'file-validation',
    // Another node may have taken the request, and a version may have been confirmed since.
    restMs: 250,
    wakeup,
    async step() {
      const leading = lead();
      if (!leading) return false;
      return validator.step(leading).catch((error) => {
        throw rpcFaultOf(error) ?? error;
      });
    },
  });
  // What is asked for while the chain is away stays pending.
  return { ...loop, dispensable: true };
}
