/** Makes the deliveries of ordered endpoints from the feed, and finds those that nobody released. */
import { type Changes, type Loop, repeating, type Wakeup } from '../../runtime/loop.ts';
import type { Lines } from './lines.ts';

const restMs = 250;
/** How often it looks for what a dead node did not release. */
const sweepMs = 2_000;

export function webhookLinesLoop(
  lines: Lines,
  { wakeup, changes }: { wakeup: Wakeup; changes: Changes },
): Loop {
  let sweptAt = Number.NEGATIVE_INFINITY;
  return repeating({
    name: 'webhook-lines',
    restMs,
    wakeup,
    changes,
    async step() {
      const more = await lines.advance();
      if (more === true || lines.isEmpty()) return more;
      // It rests only after a sweep: what somebody left behind just now is found without another change.
      if (performance.now() - sweptAt < sweepMs) return 'again';
      const isUnfinished = await lines.sweep();
      if (!isUnfinished) sweptAt = performance.now();
      return isUnfinished && 'again';
    },
  });
}
