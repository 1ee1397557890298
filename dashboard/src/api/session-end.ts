/** Whether the session has ended under the page, and the renewal after somebody signed in again in place. */
import { useSyncExternalStore } from 'react';

let ended = false;
/** Counts the sessions of this page, so that what belongs to one can be begun anew. */
let number = 0;
const watchers = new Set<() => void>();

function subscribe(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

function tell(): void {
  for (const watcher of watchers) watcher();
}

/** The service knows nobody behind a request of this page any more. */
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

export function useSessionEnded(): boolean {
  return useSyncExternalStore(subscribe, () => ended);
}

export function useSessionNumber(): number {
  return useSyncExternalStore(subscribe, () => number);
}
