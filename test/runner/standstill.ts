/**
 * Notices when the machine stands still. Leases, connections and receivers time out for good reason when nothing
 * answers for seconds, so a test that failed then proves nothing about the code, and runs again.
 */
import { setTimeout as sleep } from 'node:timers/promises';

export interface StandstillWatch {
  /** The longest silence that lasted until this reading of `performance.now()` or later, in milliseconds; 0: none. */
  longestSince(since: number): number;
  stop(): Promise<void>;
}

export interface StandstillOptions {
  /** Resolves when the server has answered. */
  ask(): Promise<unknown>;
  now?: () => number;
  pauseMs?: number;
}

/** Shorter than every time limit of the service, and a hundred times as long as an answer takes. */
export const standstillMs = 2_000;
const usualPauseMs = 500;
const longestStopMs = 1_000;

export function watchForStandstill({
  ask,
  now = () => performance.now(),
  pauseMs = usualPauseMs,
}: StandstillOptions): StandstillWatch {
  const silences: { until: number; ms: number }[] = [];
  const stopping = new AbortController();
  let answeredAt = now();

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      // A refusal is an answer too.
      await ask().catch(() => {});
      const until = now();
      const ms = until - answeredAt;
      if (ms >= standstillMs) silences.push({ until, ms });
      answeredAt = until;
      await sleep(pauseMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  }

  const watching = watch();
  return {
    longestSince(since) {
      const present = now() - answeredAt;
      const past = silences.filter(({ until }) => until >= since).map(({ ms }) => ms);
      return Math.max(0, ...past, present >= standstillMs ? present : 0);
    },
    async stop() {
      stopping.abort();
      // A server that stands still now must not keep the run from ending.
      await Promise.race([watching, sleep(longestStopMs, undefined, { ref: false })]);
    },
  };
}
