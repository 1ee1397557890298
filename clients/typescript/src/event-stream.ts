/** Events as they happen: from the stream, or by asking the feed again and again. Both resume where they broke off. */

import { messagesOf } from './event-lines.ts';
import type { Event, EventType } from './event-types.ts';
import { ConnectionError } from './holdfast-error.ts';
import type { CallOptions } from './operation-types.ts';
import { pause, pauseBefore } from './retry.ts';
import type { Answer, Arguments } from './transport.ts';

export interface StreamArguments {
  /** Where to continue: a cursor that you stored. Without one the stream begins with the next event. */
  cursor?: string;
  type?: EventType;
}

export interface FollowArguments {
  /** Where to continue. Without one the feed begins with its first event. */
  cursor?: string;
  type?: EventType;
  /** Between two questions when there is nothing new; by default 1 s. */
  pollMs?: number;
}

export interface ReceivedEvent {
  event: Event;
  /** Store it once the event is handled: with it no later event is missed. It fits the stream and the feed. */
  cursor: string;
}

export type EventStream = AsyncGenerator<ReceivedEvent, void>;

/** The service sends a comment every 15 s: a stream that is silent for longer has broken. */
const silenceMs = 45_000;
const usualPollMs = 1_000;
/** Before the feed is asked again once all retries of a question have failed. */
const awayMs = 5_000;

type Ask = (args: Arguments, options: CallOptions) => Promise<Answer>;

/** Never ends by itself. Throws what cannot be helped by trying again, such as a revoked key or an invalid cursor. */
export async function* streamEvents(
  ask: Ask,
  { cursor: from, type }: StreamArguments,
  options: CallOptions,
): EventStream {
  let cursor = from;
  let reconnectMs = 2_000;
  for (let failed = 0; ; failed += 1) {
    const watch = createWatch(options.signal);
    let isOpen = false;
    try {
      watch.heard();
      const { response } = await ask({ cursor, type }, { ...options, signal: watch.signal });
      isOpen = true;
      watch.heard();
      for await (const { id, data, retryMs } of messagesOf(response.body ?? new ReadableStream())) {
        watch.heard();
        failed = 0;
        reconnectMs = retryMs ?? reconnectMs;
        cursor = id ?? cursor;
        // How long the caller takes for an event is not the silence of the service.
        watch.close();
        if (data !== null) yield { event: JSON.parse(data), cursor: cursor ?? '' };
        watch.heard();
      }
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      if (isOpen ? error instanceof SyntaxError : !mayPass(error)) throw error;
    } finally {
      watch.close();
    }
    await pause(Math.min(30_000, reconnectMs * 2 ** Math.max(0, failed - 1)), options.signal);
  }
}

/** Never ends by itself. Some events may come again after a crash: skip those whose id you know. */
export async function* followEvents(
  ask: Ask,
  { cursor: from, type, pollMs = usualPollMs }: FollowArguments,
  options: CallOptions,
): EventStream {
  let cursor = from;
  while (true) {
    const answer = await ask({ cursor, type, limit: 1000 }, options).catch((error) => {
      if (!mayPass(error)) throw error;
      return null;
    });
    if (answer === null) {
      await pause(awayMs, options.signal);
      continue;
    }
    const { data, nextCursor } = answer;
    const events = data as Event[];
    const next = nextCursor ?? cursor ?? '';
    for (const [place, event] of events.entries()) {
      // The cursor of the next page counts once all of this page is handled.
      yield { event, cursor: place === events.length - 1 ? next : (cursor ?? '') };
    }
    const moved = next !== cursor;
    cursor = next;
    if (events.length === 0 || !moved) await pause(pollMs, options.signal);
  }
}

/** Not for good: the service, or the way to it, is away. */
function mayPass(error: unknown): boolean {
  return pauseBefore(error, 0, true) !== null;
}

/** Aborts when the caller does, and after a silence. */
function createWatch(outer?: AbortSignal): { signal: AbortSignal; heard(): void; close(): void } {
  const inner = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const close = () => clearTimeout(timer);
  return {
    signal: outer ? AbortSignal.any([outer, inner.signal]) : inner.signal,
    heard() {
      close();
      const silence = new ConnectionError('The event stream fell silent.', {
        cause: null,
        idempotencyKey: null,
      });
      timer = setTimeout(() => inner.abort(silence), silenceMs);
    },
    close,
  };
}
