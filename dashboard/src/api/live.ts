/** Live updates: follows the feed of events and refetches what is on the screen, without a reload. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { apiUrl, workspaceHeaders } from './call.ts';
import { sessionEnded, useSessionNumber } from './session-end.ts';

export interface FeedEvent {
  id: string;
  type: string;
  timestamp: string;
  workspace_id: string;
  data: Record<string, unknown>;
}

/** The nouns that an event type affects; everything about them is then stale. */
const touched: [prefix: string, nouns: string[]][] = [
  ['endpoint.failing', ['webhooks', 'stats', 'notices']],
  ['asset.maintenance.', ['assets', 'notices']],
  ['worker.', ['notices']],
  ['api_key.', ['notices']],
  ['approval.', ['approvals', 'approval-rules', 'notices']],
  ['operator.', ['notices']],
  ['file.', ['files', 'vaults', 'stats']],
  ['record.', ['records', 'vaults', 'stats']],
  ['vault.', ['vaults']],
  ['maintenance.', ['assets', 'stats']],
  ['asset.', ['assets']],
  ['endpoint.', ['webhooks']],
  ['anchor.', ['files', 'records', 'assets', 'stats']],
];

/** Whether the feed is open; assumed true until the first attempt. */
let live = true;
const watchers = new Set<() => void>();

/** Whether the page currently updates itself. */
export function useIsLive(): boolean {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => live,
  );
}

function setLive(now: boolean): void {
  live = now;
  for (const watcher of watchers) watcher();
}

/** Follows the feed from now on; reconnects by itself after a pause. `refused`: the session may not, for want of a factor. */
export function useLiveUpdates(refused: boolean): void {
  const client = useQueryClient();
  const session = useSessionNumber();
  useEffect(() => {
    if (refused) return;
    const ending = new AbortController();
    const refresh = gatherNouns((nouns) => {
      void client.invalidateQueries({
        predicate: ({ queryKey, state }) =>
          (nouns === null || nouns.has(String(queryKey[0]))) && !isLongList(state.data),
      });
    });
    void follow(ending.signal, {
      tell({ type }) {
        const nouns = touched.find(([prefix]) => type.startsWith(prefix))?.[1] ?? [];
        refresh(['events', 'deliveries', ...nouns]);
      },
      missed: () => refresh(null),
      // Says what is missing.
      lost: () => void client.invalidateQueries({ queryKey: ['me'] }),
    });
    return () => ending.abort();
  }, [client, session, refused]);
}

/** Lists with more pages than this are not refetched, because somebody has scrolled far into them. */
const longPages = 5;

function isLongList(data: unknown): boolean {
  const { pages } = Object(data) as { pages?: unknown[] };
  return pages !== undefined && pages.length > longPages;
}

/** Pages are refetched at most this often, however many events arrive. */
const refreshMs = 1_000;

/** Null: everything. Runs at once, and again after a pause with what arrived meanwhile. */
function gatherNouns(run: (nouns: Set<string> | null) => void): (nouns: string[] | null) => void {
  let waiting: Set<string> | null | undefined;
  let resting = false;
  const rest = () => {
    resting = true;
    setTimeout(() => {
      resting = false;
      if (waiting === undefined) return;
      const nouns = waiting;
      waiting = undefined;
      run(nouns);
      rest();
    }, refreshMs);
  };
  return (nouns) => {
    if (resting) {
      waiting = nouns === null || waiting === null ? null : new Set([...(waiting ?? []), ...nouns]);
      return;
    }
    run(nouns === null ? null : new Set(nouns));
    rest();
  };
}

interface Follower {
  tell(event: FeedEvent): void;
  /** The feed was interrupted before its first event, so the position to resume from is unknown. */
  missed(): void;
  /** The person may not follow it any more. */
  lost(): void;
}

const pauseMs = 3_000;

/** EventSource cannot send the header that chooses a workspace, so the stream is read here. */
async function follow(signal: AbortSignal, { tell, missed, lost }: Follower): Promise<void> {
  let lastId: string | null = null;
  let cut = false;
  while (!signal.aborted) {
    try {
      const response: Response = await fetch(apiUrl('/platform/events/stream'), {
        credentials: 'same-origin',
        headers: {
          accept: 'text/event-stream',
          ...workspaceHeaders(),
          ...(lastId !== null && { 'last-event-id': lastId }),
        },
        signal,
      });
      if (response.status === 401) sessionEnded();
      if (response.status === 403) lost();
      if (response.status === 401 || response.status === 403) return;
      // The feed was restored from a backup meanwhile: the position to resume from is no longer valid.
      if (response.status === 400) lastId = null;
      if (response.ok && response.body) {
        setLive(true);
        if (cut && lastId === null) missed();
        for await (const { id, data } of readMessages(response.body)) {
          lastId = id ?? lastId;
          if (data !== '') tell(JSON.parse(data) as FeedEvent);
        }
      }
    } catch {
      // Interrupted: reconnects below.
    }
    cut = true;
    if (signal.aborted) return;
    setLive(false);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

async function* readMessages(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<{ id: string | null; data: string }> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const messages = rest.split('\n\n');
    rest = messages.pop() ?? '';
    for (const message of messages) {
      const fields = message.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line));
      const field = (name: string) => fields.find((found) => found?.[1] === name)?.[2];
      yield { id: field('id') ?? null, data: field('data') ?? '' };
    }
  }
}
