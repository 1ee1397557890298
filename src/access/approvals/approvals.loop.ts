/** Ends requests for a second person whose time is over. */
import type { Db } from '../../db/database.ts';
import { type Loop, repeating } from '../../runtime/loop.ts';
import { tidyApprovals } from './decisions.ts';

export function approvalsLoop(db: Db): Loop {
  return {
    // What has expired is refused without it; it only tells.
    dispensable: true,
    ...repeating({ name: 'approvals', restMs: 15_000, step: () => tidyApprovals(db, new Date()) }),
  };
}
