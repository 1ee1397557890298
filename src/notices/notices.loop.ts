/** The loops of notices: what each node sees, what is told, and mail. */
import { type Changes, type Loop, repeating, type Wakeup } from '../runtime/loop.ts';
import type { Notices } from './notices.ts';

/** On every node. */
export function noticeSignsLoop(report: () => Promise<void>, lookMs: number): Loop {
  return {
    ...repeating({
      name: 'notice-signs',
      restMs: lookMs,
      async step() {
        await report();
        return false;
      },
    }),
    dispensable: true,
  };
}

export function noticesLoop(notices: Notices, lookMs: number): Loop {
  return {
    ...repeating({ name: 'notices', restMs: lookMs, step: () => notices.step() }),
    dispensable: true,
  };
}

export function noticeMailLoop(
  send: () => Promise<boolean>,
  { wakeup, changes }: { wakeup: Wakeup; changes: Changes },
): Loop {
  return {
    ...repeating({
      name: 'notice-mail',
      restMs: 2_000,
      step: send,
      wakeup,
      changes,
      // A mail server that hangs is given up after half of this.
      longestStepMs: 120_000,
    }),
    dispensable: true,
  };
}
