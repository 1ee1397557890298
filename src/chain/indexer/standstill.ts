/** Detects when indexing stalls while the chain goes on. Causes usually pass by themselves; a lasting one is logged. */
import type { LoopLog } from '../../runtime/loop.ts';

export interface Standstill {
  /** Reports why nothing could be stored this time. */
  meet(reason: string): void;
  /** Reports that something was stored, or that there is nothing to store. */
  over(): void;
}

export interface StandstillOptions {
  log: Pick<LoopLog, 'info' | 'error'>;
  /** How long a stall lasts before it is logged, and the interval between further logs. */
  tellAfterMs?: number;
  /** Milliseconds from any starting point. */
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
