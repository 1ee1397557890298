/** Tells the open event streams of this node that the feed has grown: one look for all of them, and none without any. */
import type { Pool } from 'pg';
import { pause, type Wakeup } from '../runtime/loop.ts';
import { tailPosition } from './events.ts';

/** Everything up to `position` can be read now. */
export type OnGrowth = (position: number) => void;

export interface FeedWatcher {
  /** Calls back whenever there may be new events of the workspace; the returned function ends that. */
  follow(workspaceId: string, onGrowth: OnGrowth): () => void;
}

export interface FeedWatcherDeps {
  pool: Pool;
  /** Woken when this node has placed events; what other nodes place is found by looking. */
  wakeup: Wakeup;
}

const longestRestMs = 250;
/** Under load a look finds many events at once; without this rest each event would cost a look, and a read per stream. */
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
        // Whatever it was, the requests that meet it say so; streams stay open and go on when it is over.
        await pause(restWhileAwayMs, signal);
      }
    }
  }

  /** At the first look nobody knows what came between a stream's own first read and now. */
  async function tellAll(): Promise<number> {
    const position = await tailPosition(pool);
    for (const each of followers.values()) for (const onGrowth of each) onGrowth(position);
    return position;
  }

  async function tellOfGrowth(seen: number): Promise<number> {
    const { rows } = await pool.query<{ workspace_id: string; position: number }>({
      name: 'feed-growth',
      text: 'select workspace_id, max(position) as position from events where position > $1 group by workspace_id',
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
