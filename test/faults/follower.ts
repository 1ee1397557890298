/** A poller that follows the event feed from the first day through every fault, going on from its last cursor. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from './client.ts';

export interface Follower {
  /** Ids of the events in the order in which they were seen. */
  seen: string[];
  /** Follows to the present end of the feed, then ends. */
  stop(): Promise<void>;
}

const pageSize = 200;
const pauseMs = 200;

export function followFeed(client: Client): Follower {
  const seen: string[] = [];
  let stopping = false;
  let cursor: string | null = null;

  const following = (async () => {
    for (;;) {
      const last = stopping;
      const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { outcome, json, headers } = await client({
        method: 'GET',
        path: `/platform/events?limit=${pageSize}${query}`,
      });
      if (outcome !== 'acknowledged') {
        await sleep(pauseMs);
        continue;
      }
      for (const { id } of json as { id: string }[]) seen.push(id);
      cursor = headers.get('x-next-cursor');
      if (json.length === pageSize) continue;
      if (last) return;
      await sleep(pauseMs);
    }
  })();

  return {
    seen,
    async stop() {
      stopping = true;
      await following;
    },
  };
}
