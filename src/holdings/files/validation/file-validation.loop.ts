/** Carries out requested validations of files while this node leads on the chain. */
import type { Lead } from '../../../chain/chain.ts';
import { rpcFaultOf } from '../../../chain/rpc/json-rpc.ts';
import { type Loop, repeating, type Wakeup } from '../../../runtime/loop.ts';
import type { FileValidator } from './file-validator.ts';

export interface FileValidationLoopOptions {
  lead(): Lead | null;
  /** Woken when a validation was requested. */
  wakeup: Wakeup;
}

export function fileValidationLoop(
  validator: FileValidator,
  { lead, wakeup }: FileValidationLoopOptions,
): Loop {
  const loop = repeating({
    name: 'file-validation',
    // Another node may have taken the request, or a version may have been confirmed meanwhile.
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
  // Validations requested while the chain is unavailable stay pending.
  return { ...loop, dispensable: true };
}
