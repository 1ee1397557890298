/** Notices when the index stands still while the chain goes on. Each cause passes by itself as a rule; one that lasts is told. */
import type { LoopLog } from '../../runtime/loop.ts';

export interface Standstill {
  /** Why nothing could be stored this time. */
  meet(reason: string): void;
  /** Something was stored, or there is nothing to store. */
  over(): void;
}

export interface StandstillOptions {
  log: Pick<LoopLog, 'info' | 'error'>;
  /** So long it is left untold, and so long until it is told again. */
  tellAfterMs?: number;
  /** Milliseconds, from wherever. */
  now?(): number;
}

export function createStandstill({
  log,
  tellAfterMs = 60_000,
  now = () => performance.now(),
}: StandstillOptions): Standstill {
  let since: number | null = null;
  let toldAt: number | null = null;
  return {
    meet(reason) {
      const at = now();
      since ??= at;
      if (at - (toldAt ?? since) < tellAfterMs) return;
      toldAt = at;
      const seconds = Math.round((at - since) / 1000);
      log.error({ reason, seconds }, 'indexing has stopped; confirmations and transaction lists are waiting');
    },
    over() {
      if (toldAt !== null) log.info({}, 'indexing has resumed');
      since = null;
      toldAt = null;
    },
  };
}
