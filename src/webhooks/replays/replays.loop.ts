/** Advances running replays. */
import { type Loop, repeating, type Wakeup } from '../../runtime/loop.ts';
import { batchRestMs, type Replays } from './replays.ts';

export function replaysLoop(replays: Pick<Replays, 'advance'>, wakeup: Wakeup): Loop {
  return repeating({
    name: 'webhook-replays',
    restMs: batchRestMs,
    wakeup,
    async step() {
      await replays.advance();
      return false;
    },
  });
}
