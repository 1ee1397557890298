/** Events as they happen: from the stream, or by asking the feed again and again. Both resume where they broke off. */

import { messagesOf } from './event-lines.ts';
import type { Event, EventType } from './event-types.ts';
import { ConnectionError, HoldfastError } from './holdfast-error.ts';
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
    try {
      const { response } = await ask({ cursor, type }, { ...options, signal: watch.signal });
      watch.heard();
      for await (const { id, data, retryMs } of messagesOf(response.body ?? new ReadableStream())) {
        watch.heard();
        failed = 0;
        reconnectMs = retryMs ?? reconnectMs;
        cursor = id ?? cursor;
        if (data !== null) yield { event: JSON.parse(data), cursor: cursor ?? '' };
        watch.heard();
      }
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      const isFinal = error instanceof HoldfastError && pauseBefore(error, 0, true) === null;
      if (isFinal || error instanceof SyntaxError) throw error;
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
    const { data, nextCursor } = await ask({ cursor, type, limit: 1000 }, options);
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
