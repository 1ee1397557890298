/** Carries out requested validations of files while this node leads on the chain. */
import type { Lead } from '../../../chain/chain.ts';
import { rpcFaultOf } from '../../../chain/rpc/json-rpc.ts';
import { type Changes, type Loop, repeating, type Wakeup } from '../../../runtime/loop.ts';
import type { FileValidator } from './file-validator.ts';

export interface FileValidationLoopOptions {
  lead(): Lead | null;
  /** Woken when a validation was requested. */
  wakeup: Wakeup;
  /** Another node may have taken the request, or a version may have been confirmed meanwhile. */
  changes: Changes;
}

export function fileValidationLoop(
  validator: FileValidator,
  { lead, wakeup, changes }: FileValidationLoopOptions,
): Loop {
  const loop = repeating({
    name: 'file-validation',
    restMs: 250,
    wakeup,
    changes,
    async step() {
      const leading = lead();
      if (!leading) return 'again';
      const more = await validator.step(leading).catch((error) => {
        throw rpcFaultOf(error) ?? error;
      });
      return more || (validator.waits() && 'again');
    },
  });
  // Validations requested while the chain is unavailable stay pending.
  return { ...loop, dispensable: true };
}
