/** Advances running replays. */
import { type Changes, type Loop, repeating, type Wakeup } from '../../runtime/loop.ts';
import { batchRestMs, type Replays } from './replays.ts';

export function replaysLoop(
  replays: Pick<Replays, 'advance'>,
  { wakeup, changes }: { wakeup: Wakeup; changes: Changes },
): Loop {
  return repeating({
    name: 'webhook-replays',
    restMs: batchRestMs,
    wakeup,
    changes,
    async step() {
      return (await replays.advance()) ? 'again' : false;
    },
  });
}
