/** One clock for all relative times on the page. */
import { useSyncExternalStore } from 'react';

const everyMs = 30_000;

const listeners = new Set<() => void>();
let timer: number | undefined;
let ticks = 0;

/** Renders again at each tick. */
export function useClock(): number {
  return useSyncExternalStore(listen, () => ticks);
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= window.setInterval(tick, everyMs);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    window.clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  ticks += 1;
  for (const listener of listeners) listener();
}
