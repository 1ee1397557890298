/** The part of the service that orders events, lists them and streams them. */
import type { Pool } from 'pg';
import type { Db } from '../db/database.ts';
import type { Write } from '../db/writes.ts';
import type { FindCaller } from '../http/admission/authentication.ts';
import type { Part } from '../http/api/part.ts';
import type { Limits } from '../runtime/budgets.ts';
import { type Changes, createWakeup, type Wakeup } from '../runtime/loop.ts';
import { eventOrderLoop } from './event-order.loop.ts';
import { placeEvents } from './event-order.ts';
import { createEventStreams, type EventStreams } from './event-stream.ts';
import { eventRoutes } from './events.routes.ts';
import { readFeedGeneration } from './feed-generation.ts';
import { createFeedWatcher } from './feed-watcher.ts';

export interface Feed extends Part {
  /** Wake it after a commit with an event. */
  order: Wakeup;
  /** Woken when events may have been given a position. */
  placed: Wakeup;
  /** Assigns positions to events before they are inserted, for callers that write many in one commit. */
  place(db: Db, writes: Write[]): Promise<void>;
  streams: EventStreams;
}

export interface FeedDeps {
  db: Db;
  pool: Pool;
  findCaller: FindCaller;
  limits: Limits;
  changes: Changes;
}

export async function createFeed({ db, pool, findCaller, limits, changes }: FeedDeps): Promise<Feed> {
  const order = createWakeup();
  const ordered = createWakeup();
  const placed = createWakeup();
  const feed = {
    wake() {
      ordered.wake();
      placed.wake();
    },
  };
  const feedGeneration = await readFeedGeneration(db);
  const streams = createEventStreams({ pool, watcher: createFeedWatcher({ pool, wakeup: ordered }) });
  return {
    order,
    placed,
    place: placeEvents,
    streams,
    loops: [eventOrderLoop(pool, { order, feed, changes })],
    routes(app, { cursors }) {
      eventRoutes(app, { pool, cursors, feedGeneration, eventStreams: streams, findCaller, limits });
    },
  };
}
