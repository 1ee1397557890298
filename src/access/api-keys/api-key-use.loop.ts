/** Saves every few seconds when API keys were last used. */
import { type Loop, repeating } from '../../runtime/loop.ts';
import type { ApiKeys } from './api-keys.ts';

export function apiKeyUseLoop(apiKeys: ApiKeys): Loop {
  return repeating({
    name: 'api-key-use',
    restMs: 2_000,
    async step() {
      await apiKeys.saveLastUsed();
      return false;
    },
  });
}
