/** Lets a few calls run at once; a bounded number of others wait in line. */

export interface Turns {
  /** Resolves to a function that ends the turn; to null if too many wait already, or if the signal aborts first. */
  take(signal: AbortSignal): Promise<(() => void) | null>;
}

export function createTurns({ atOnce, mostWaiting }: { atOnce: number; mostWaiting: number }): Turns {
  /** In order; each is called when it has its turn. */
  const waiting = new Set<() => void>();
  let running = 0;

  function end(): void {
    const [next] = waiting;
    if (!next) {
      running -= 1;
      return;
    }
    // It takes over the place that became free.
    waiting.delete(next);
    next();
  }

  function endOnce(): () => void {
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      end();
    };
  }

  return {
    async take(signal) {
      if (signal.aborted) return null;
      if (running < atOnce) {
        running += 1;
        return endOnce();
      }
      if (waiting.size >= mostWaiting) return null;
      return await new Promise((resolve) => {
        const leave = () => {
          waiting.delete(begin);
          resolve(null);
        };
        const begin = () => {
          signal.removeEventListener('abort', leave);
          resolve(endOnce());
        };
        signal.addEventListener('abort', leave, { once: true });
        waiting.add(begin);
      });
    },
  };
}
