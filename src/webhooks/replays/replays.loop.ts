/** Moves running replays on. */
import { type Bell, type Loop, repeating } from '../../runtime/loop.ts';
import { batchRestMs, type Replays } from './replays.ts';

export function replaysLoop(replays: Pick<Replays, 'advance'>, bell: Bell): Loop {
  return repeating({
    name: 'webhook-replays',
    restMs: batchRestMs,
    bell,
    async step() {
      await replays.advance();
      return false;
    },
  });
}
