/** Makes a running service notice a rotation of the master key. */
import { type Loop, repeating } from '../runtime/loop.ts';
import type { Keyring } from './keyring.ts';

export const refreshMs = 1_000;

export function keyringLoop(keyring: Keyring): Loop {
  return repeating({
    name: 'keyring',
    restMs: refreshMs,
    async step() {
      await keyring.refresh();
      return false;
    },
  });
}
