/** Notifies the open event streams of this node when the feed grows: one query for all of them, and none without streams. */
import type { Pool } from 'pg';
import { pause, type Wakeup } from '../runtime/loop.ts';
import { tailPosition } from './feed.ts';

/** Everything up to `position` can be read now. */
export type OnGrowth = (position: number) => void;

export interface FeedWatcher {
  /** Calls back whenever there may be new events of the workspace; the returned function unsubscribes. */
  follow(workspaceId: string, onGrowth: OnGrowth): () => void;
}

export interface FeedWatcherDeps {
  pool: Pool;
  /** Woken when this node has placed events; those of other nodes are found by polling. */
  wakeup: Wakeup;
}

const longestRestMs = 250;
/** Under load one query finds many events; without this pause each event would cost a query, and a read per stream. */
const shortestRestMs = 40;
const restWhileAwayMs = 1_000;

export function createFeedWatcher({ pool, wakeup }: FeedWatcherDeps): FeedWatcher {
  const followers = new Map<string, Set<OnGrowth>>();
  let watching: AbortController | null = null;

  async function watch(signal: AbortSignal): Promise<void> {
    let seen: number | null = null;
    while (!signal.aborted) {
      try {
        seen = seen === null ? await tellAll() : await tellOfGrowth(seen);
        await pause(shortestRestMs, signal);
        await wakeup.wait(longestRestMs, signal);
      } catch {
        // Requests that hit the same fault report it; streams stay open and continue when it is over.
        await pause(restWhileAwayMs, signal);
      }
    }
  }

  /** On the first query it is unknown what was added since the first read of each stream. */
  async function tellAll(): Promise<number> {
    const position = await tailPosition(pool);
    for (const each of followers.values()) for (const onGrowth of each) onGrowth(position);
    return position;
  }

  async function tellOfGrowth(seen: number): Promise<number> {
    const { rows } = await pool.query<{ workspace_id: string; position: number }>({
      name: 'feed-growth',
      text: 'select workspace_id, max(last_position) as position from event_segments where first_position > $1 group by workspace_id',
      values: [seen],
    });
    for (const { workspace_id, position } of rows)
      for (const onGrowth of followers.get(workspace_id) ?? []) onGrowth(position);
    return Math.max(seen, ...rows.map(({ position }) => position));
  }

  return {
    follow(workspaceId, onGrowth) {
      const each = followers.get(workspaceId) ?? new Set();
      followers.set(workspaceId, each.add(onGrowth));
      if (!watching) {
        watching = new AbortController();
        void watch(watching.signal);
      }
      return () => {
        each.delete(onGrowth);
        if (each.size === 0) followers.delete(workspaceId);
        if (followers.size > 0) return;
        watching?.abort();
        watching = null;
      };
    },
  };
}
