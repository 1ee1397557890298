/** Whether the session of the page has ended, and its renewal when the user signs in again in place. */
import { useSyncExternalStore } from 'react';

let ended = false;
/** Counts the sessions of this page, so that whatever depends on a session can be restarted. */
let number = 0;
const watchers = new Set<() => void>();

function subscribe(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

function tell(): void {
  for (const watcher of watchers) watcher();
}

/** The service no longer accepts the session of this page. */
export function sessionEnded(): void {
  if (ended) return;
  ended = true;
  tell();
}

export function sessionBegun(): void {
  ended = false;
  number += 1;
  tell();
}

export function isSessionEnded(): boolean {
  return ended;
}

/** Resolves when there is a session, or with the signal. */
export function untilSession(signal: AbortSignal): Promise<void> {
  if (!ended || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const leave = subscribe(() => {
      if (!ended) done();
    });
    const done = () => {
      leave();
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done);
  });
}

export function useSessionEnded(): boolean {
  return useSyncExternalStore(subscribe, () => ended);
}

export function useSessionNumber(): number {
  return useSyncExternalStore(subscribe, () => number);
}
