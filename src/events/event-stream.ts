/** Event streams: the feed as server-sent events, from a position on, until the client disconnects. */
import { Readable } from 'node:stream';
import type { Pool } from 'pg';
import { isDatabaseAway } from '../db/faults.ts';
import { budgetExceeded } from '../runtime/budgets.ts';
import { AppError } from '../runtime/errors.ts';
import { createWakeup, pause } from '../runtime/loop.ts';
import { type FeedItem, readFeed, tailPosition } from './feed.ts';
import type { FeedWatcher } from './feed-watcher.ts';

export interface StreamRequest {
  workspaceId: string;
  /** Limit of open streams per workspace, on this node; null: no limit. */
  most: number | null;
  type: string | undefined;
  /** null: only new events. */
  after: number | null;
  /** The id of a message: a cursor to just after this position. */
  toId(position: number): string;
  /** Called every few seconds; false ends the stream. */
  mayGoOn(): Promise<boolean>;
  /** Closes the connection from now on if the client reads nothing of what was sent for this long. */
  cutIfStalled(ms: number): void;
}

export interface EventStreams {
  open(request: StreamRequest): Promise<Readable>;
  /** Open streams of a workspace on this node. */
  count(workspaceId: string): number;
  /** Ends all streams at once, and refuses new ones. */
  close(): void;
}

export interface EventStreamsDeps {
  pool: Pool;
  watcher: FeedWatcher;
  heartbeatMs?: number;
  checkEveryMs?: number;
}

const pageSize = 100;
/** How long clients should wait before they reconnect. */
const reconnectMs = 2_000;
const retryReadMs = 1_000;
/** After its stream has ended, a client that reads nothing for this long is considered stalled. */
const stalledAfterMs = 1_000;

export function createEventStreams({
  pool,
  watcher,
  heartbeatMs = 15_000,
  checkEveryMs = 5_000,
}: EventStreamsDeps): EventStreams {
  /** Functions that end the open streams, by workspace. */
  const openStreams = new Map<string, Set<() => void>>();
  let closed = false;

  /** Counts the stream before anything is awaited, so that concurrent requests cannot exceed the limit. */
  function enter({ workspaceId, most }: StreamRequest, end: () => void): () => void {
    const present = openStreams.get(workspaceId) ?? new Set();
    if (most !== null && present.size >= most) throw budgetExceeded('streams', most);
    openStreams.set(workspaceId, present.add(end));
    return () => {
      present.delete(end);
      if (present.size === 0) openStreams.delete(workspaceId);
    };
  }

  return {
    async open(request) {
      if (closed) throw stopping();
      const ending = new AbortController();
      const leave = enter(request, end);
      let after: number;
      try {
        const tail = request.after ?? (await unlessAborted(tailPosition(pool), ending.signal));
        if (closed || tail === null) throw stopping();
        after = tail;
      } catch (error) {
        leave();
        throw error;
      }
      const messages = followFeed(request, { pool, watcher, heartbeatMs, after, signal: ending.signal });
      const check = setInterval(async () => {
        // If the database is unavailable the stream stays open; nothing is sent then either.
        if (!(await request.mayGoOn().catch(() => true))) end();
      }, checkEveryMs);

      // Read only when the client has taken what came before: one page waits in memory, however slow the client is.
      const stream = new Readable({
        read() {
          messages.next().then(
            (text) => stream.push(text),
            (error) => stream.destroy(error),
          );
        },
        destroy(error, done) {
          ending.abort();
          messages.stop();
          clearInterval(check);
          leave();
          done(error);
        },
      });
      return stream;

      /**
       * Ends gracefully, so that the client sees a complete response: reads nothing more, and ends after what was sent. A
       * slow client gets there unless the whole service stops first; one that has stopped reading never would.
       */
      function end(): void {
        if (ending.signal.aborted) return;
        ending.abort();
        request.cutIfStalled(stalledAfterMs);
      }
    },

    count: (workspaceId) => openStreams.get(workspaceId)?.size ?? 0,

    close() {
      closed = true;
      for (const ends of [...openStreams.values()]) for (const end of [...ends]) end();
    },
  };
}

interface Messages {
  /** Resolves to the next text to send; null when the signal has aborted. */
  next(): Promise<string | null>;
  stop(): void;
}

interface FollowDeps {
  pool: Pool;
  watcher: FeedWatcher;
  heartbeatMs: number;
  after: number;
  signal: AbortSignal;
}

function followFeed(
  { workspaceId, type, toId }: StreamRequest,
  { pool, watcher, heartbeatMs, after, signal }: FollowDeps,
): Messages {
  const growth = createWakeup();
  let position = after;
  let readable = after;
  let due = true;
  let greeted = false;
  let heartbeatAt = performance.now() + heartbeatMs;
  // Before the first read, so that events that this read misses are announced.
  const stop = watcher.follow(workspaceId, (highest) => {
    readable = highest;
    due = true;
    growth.wake();
  });

  async function readNext(): Promise<FeedItem[]> {
    const announced = readable;
    due = false;
    try {
      const { items, upTo, ended } = await readFeed(pool, {
        workspaceId,
        type,
        after: position,
        limit: pageSize,
      });
      if (!ended) due = true;
      // Events skipped because of their type need not be skipped again.
      position = Math.max(upTo, ended ? announced : 0);
      return items;
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      due = true;
      await pause(retryReadMs, signal);
      return [];
    }
  }

  function toMessage(item: FeedItem): string {
    return `id: ${toId(item.position)}\nevent: ${item.type}\ndata: ${item.envelope}\n\n`;
  }

  return {
    stop,
    async next() {
      if (!greeted) {
        greeted = true;
        // An id without data makes no event, but a client that disconnects before the first event resumes here.
        return `: the events follow\nretry: ${reconnectMs}\nid: ${toId(position)}\n\n`;
      }
      while (!signal.aborted) {
        const items = due ? await unlessAborted(readNext(), signal) : [];
        // Events read meanwhile are not lost: the client resumes after the last id that was sent.
        if (items === null) break;
        if (items.length > 0 || performance.now() >= heartbeatAt) {
          heartbeatAt = performance.now() + heartbeatMs;
          return items.length > 0 ? items.map(toMessage).join('') : `:\nid: ${toId(position)}\n\n`;
        }
        if (!due) await growth.wait(heartbeatAt - performance.now(), signal);
      }
      return null;
    },
  };
}

/** The result of `work`, or null as soon as the signal aborts: ending a stream never waits for the database. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(null);
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

function stopping(): AppError {
  return new AppError('service_unavailable', 'The service is shutting down. Reconnect shortly.', {
    retryAfterSeconds: 2,
  });
}
