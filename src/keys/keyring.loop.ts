/** Makes a running service notice a rotation of the master key. */
import { type Changes, type Loop, repeating } from '../runtime/loop.ts';
import type { Keyring } from './keyring.ts';

export const refreshMs = 1_000;

export function keyringLoop(keyring: Keyring, changes: Changes): Loop {
  return repeating({
    name: 'keyring',
    restMs: refreshMs,
    changes,
    async step() {
      await keyring.refresh();
      return false;
    },
  });
}
