/** What must differ after a replica without the last commits took over: whatever the lost database may have told others. */
import { beginSealEpoch } from '../anchoring/batching/seal-epoch.ts';
import type { Db } from '../db/database.ts';
import { jumpFeed } from '../events/feed-jump.ts';

/** In a transaction. Returns the new epoch of seal numbers. */
export async function moveAhead(db: Db): Promise<number> {
  await jumpFeed(db);
  return beginSealEpoch(db);
}
