/** A right that expires unless it is renewed in time, by a clock that nobody can set. */

export interface Lease {
  /** `until` is a reading of `performance.now()`. An expired lease begins anew. */
  renew(until: number): void;
  /** Aborts when the lease expires; null while it is expired. */
  signal(): AbortSignal | null;
  /** Ends the lease for good. */
  end(): void;
}

export function createLease(): Lease {
  let running: AbortController | null = null;
  let validUntil = 0;
  let timer: NodeJS.Timeout | undefined;

  let ended = false;

  function runOut(): void {
    clearTimeout(timer);
    running?.abort();
    running = null;
  }

  return {
    renew(until) {
      const now = performance.now();
      // The timer may fire late.
      if (now >= validUntil) runOut();
      if (ended || now >= until) return;
      validUntil = until;
      running ??= new AbortController();
      clearTimeout(timer);
      timer = setTimeout(runOut, until - now);
    },
    signal: () => (running && performance.now() < validUntil ? running.signal : null),
    end() {
      ended = true;
      runOut();
    },
  };
}
