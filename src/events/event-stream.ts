/** Event streams: the feed as server-sent events, from a position on and for as long as the client stays. */
import { Readable } from 'node:stream';
import type { Pool } from 'pg';
import { isDatabaseAway } from '../db/faults.ts';
import { budgetExceeded } from '../runtime/budgets.ts';
import { AppError } from '../runtime/errors.ts';
import { createWakeup, pause } from '../runtime/loop.ts';
import { type FeedItem, readFeed, tailPosition } from './events.ts';
import type { FeedWatcher } from './feed-watcher.ts';

export interface StreamRequest {
  workspaceId: string;
  /** Open at once in the workspace, on this node; null: as many as it likes. */
  most: number | null;
  type: string | undefined;
  /** null: only what comes from now on. */
  after: number | null;
  /** The id of a message: a text that leads back to right after this position. */
  toId(position: number): string;
  /** Asked every few seconds; false ends the stream. */
  mayGoOn(): Promise<boolean>;
  /** From now on closes the connection of a client that takes nothing of what was sent to it for so long. */
  cutIfStalled(ms: number): void;
}

export interface EventStreams {
  open(request: StreamRequest): Promise<Readable>;
  /** How many a workspace has open on this node. */
  count(workspaceId: string): number;
  /** Ends every stream at once, and refuses new ones. */
  close(): void;
}

export interface EventStreamsDeps {
  pool: Pool;
  watcher: FeedWatcher;
  heartbeatMs?: number;
  checkEveryMs?: number;
}

const pageSize = 100;
/** What a client is told to wait before it connects again. */
const reconnectMs = 2_000;
const retryReadMs = 1_000;
/** A client that takes nothing for so long, when its stream has ended, does not read. */
const stalledAfterMs = 1_000;

export function createEventStreams({
  pool,
  watcher,
  heartbeatMs = 15_000,
  checkEveryMs = 5_000,
}: EventStreamsDeps): EventStreams {
  /** How to end each open stream, by workspace. */
  const openStreams = new Map<string, Set<() => void>>();
  let closed = false;

  /** Counts the stream in before anything is waited for, so that many at once cannot pass the limit together. */
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
        // Asked in vain while the database is away: then nothing is sent either.
        if (!(await request.mayGoOn().catch(() => true))) end();
      }, checkEveryMs);

      // Asked for only when the client has taken what came before: one page waits in memory, however slow it is.
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
       * Ends in order, so that the client sees a whole answer: nothing more is read for it, and the end follows what
       * was sent. A client that reads slowly gets there, unless the whole service stops meanwhile; one that has stopped
       * reading would never see it.
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
  /** The next text to send, once there is one; null when the signal has aborted. */
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
  // Before the first read: what that read is too early for is told of.
  const stop = watcher.follow(workspaceId, (highest) => {
    readable = highest;
    due = true;
    growth.wake();
  });

  async function readNext(): Promise<FeedItem[]> {
    const upTo = readable;
    due = false;
    try {
      const items = await readFeed(pool, { workspaceId, type, after: position, limit: pageSize });
      const isLast = items.length < pageSize;
      if (!isLast) due = true;
      // What was passed over because it is of another type need not be passed over again.
      position = Math.max(items.at(-1)?.position ?? position, isLast ? upTo : 0);
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
        // An id without data makes no event, but a client that is cut off before the first one comes back to here.
        return `: the events follow\nretry: ${reconnectMs}\nid: ${toId(position)}\n\n`;
      }
      while (!signal.aborted) {
        const items = due ? await unlessAborted(readNext(), signal) : [];
        // What was read meanwhile is not lost: the last id that was sent leads to it.
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

/** What the work gives, or null as soon as the signal aborts: an end waits for no database. */
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
