/** Whether the user must prove once more who they are before a change goes on, and what waits for it. */
import { useSyncExternalStore } from 'react';

let waiting: ((confirmed: boolean) => void)[] = [];
const watchers = new Set<() => void>();

function tell(): void {
  for (const watcher of watchers) watcher();
}

/** Opens the dialog; resolves with whether the user has confirmed. Requests that wait at once share one dialog. */
export function askToConfirm(): Promise<boolean> {
  return new Promise((resolve) => {
    waiting = [...waiting, resolve];
    tell();
  });
}

export function confirmationOver(confirmed: boolean): void {
  const done = waiting;
  waiting = [];
  tell();
  for (const resolve of done) resolve(confirmed);
}

export function useConfirmationNeeded(): boolean {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => waiting.length > 0,
  );
}
