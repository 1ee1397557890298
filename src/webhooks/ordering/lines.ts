/**
 * Ordered endpoints: their deliveries are made from the feed, in its order, and only the first one of each resource is due.
 * When its result is saved, the next one of the resource becomes due. So a receiver never gets an event before all earlier ones
 * of the same resource have been delivered or given up, whenever a node dies.
 */
import type { Pool } from 'pg';
import type { Db } from '../../db/database.ts';
import { type FeedItem, readFeed } from '../../events/feed.ts';
import { subscribesTo } from '../../events/type-patterns.ts';
import type { Wakeup } from '../../runtime/loop.ts';
import {
  enqueueInOrder,
  type Line,
  moveLine,
  nextResources,
  type PlacedEvent,
  type ResourceLine,
  readLines,
  releaseFirst,
  removeLine,
} from './lines.store.ts';
import { resourceOf } from './resource.ts';

export interface Lines {
  /** Makes the deliveries of new events; true when there may be more, `again` when it should look soon. */
  advance(): Promise<boolean | 'again'>;
  /**
   * Makes the next deliveries of the resources due. Call it with those whose delivery has ended, after that was saved.
   */
  release(lines: ResourceLine[]): Promise<void>;
  /** Whether there was an ordered endpoint at the last look. */
  isEmpty(): boolean;
  /** Finds what a node did not release because it died: a part of the queue at a time. True when there is more. */
  sweep(): Promise<boolean>;
}

export interface LinesDeps {
  db: Db;
  /** Never plans a sequential scan. */
  pool: Pool;
  deliveryWakeup: Pick<Wakeup, 'wake'>;
}

const eventsAtOnce = 1000;
const sweptAtOnce = 2000;
/** How long it does not look for ordered endpoints after it has found none. */
const emptyMs = 1_000;
const beginning: ResourceLine = { endpointId: '', resource: '' };

export function createLines({ db, pool, deliveryWakeup }: LinesDeps): Lines {
  let swept = beginning;
  let emptyAt = Number.NEGATIVE_INFINITY;

  async function release(lines: ResourceLine[]): Promise<void> {
    if ((await releaseFirst(pool, lines)) > 0) deliveryWakeup.wake();
  }

  /** Commits the deliveries together with the new position. */
  async function advanceOne(line: Line): Promise<boolean> {
    const { workspaceId, endpointId, position: after } = line;
    if (!line.hasMore && !line.isOver) return false;
    const { items, upTo, ended } = await readFeed(pool, {
      ...{ workspaceId, type: undefined, after },
      limit: eventsAtOnce,
    });
    if (items.length === 0) {
      if (line.isOver) await removeLine(db, endpointId);
      return false;
    }
    const resources = await db.transaction().execute(async (db) => {
      // Before the line, as whoever changes the endpoint locks them too.
      const endpoint = await db
        .selectFrom('webhook_endpoints')
        .select(['id', 'enabled', 'deleted_at', 'event_types', 'filter_path'])
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', endpointId)
        // A change that disables the endpoint waits for these deliveries, and then skips them.
        .forShare()
        .executeTakeFirst();
      if (!(await moveLine(db, line, upTo))) return null;
      if (!endpoint || endpoint.deleted_at) {
        await removeLine(db, endpointId);
        return null;
      }
      const events = items
        .filter(({ type }) => subscribesTo(endpoint.event_types, type))
        .map((item) => toPlaced(item));
      const { enabled, filter_path: filterPath } = endpoint;
      if (events.length > 0)
        await enqueueInOrder(db, { workspaceId, id: endpointId, enabled, filterPath }, events);
      return new Set(events.map(({ resource }) => resource));
    });
    if (resources === null) return false;
    deliveryWakeup.wake();
    // What they were to wait for may have ended before they could be seen.
    await release([...resources].map((resource) => ({ endpointId, resource })));
    return !ended;
  }

  return {
    async advance() {
      // Most installations have no ordered endpoint: then new events cost nothing.
      if (performance.now() - emptyAt < emptyMs) return 'again';
      const faults: unknown[] = [];
      let more = false;
      const lines = await readLines(pool);
      emptyAt = lines.length === 0 ? performance.now() : Number.NEGATIVE_INFINITY;
      for (const line of lines) {
        try {
          if (await advanceOne(line)) more = true;
        } catch (error) {
          // The other endpoints still get theirs.
          faults.push(error);
        }
      }
      if (faults.length > 0) throw faults[0];
      return more;
    },

    release,

    isEmpty: () => emptyAt > Number.NEGATIVE_INFINITY,

    async sweep() {
      const found = await nextResources(pool, swept, sweptAtOnce);
      const more = found.length === sweptAtOnce;
      swept = (more && found.at(-1)) || beginning;
      await release(found);
      return more;
    },
  };
}

function toPlaced({ position, type, envelope }: FeedItem): PlacedEvent {
  const event = JSON.parse(envelope) as { id: string; timestamp: string; data: Record<string, unknown> };
  return {
    ...{ id: event.id, type, createdAt: event.timestamp, place: position, envelope },
    resource: resourceOf({ type, data: event.data }),
  };
}
