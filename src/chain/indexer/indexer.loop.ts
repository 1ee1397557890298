/** Runs the indexer on the leading node. */

import { type Loop, repeating, type Wakeup } from '../../runtime/loop.ts';
import type { Lead } from '../chain.ts';
import type { Indexer } from './indexer.ts';

export interface IndexerLoopDeps {
  indexer: Indexer;
  lead(): Lead | null;
  /** Woken when a block was mined, or a transaction sent. */
  wakeup: Wakeup;
  /** Polling interval for a new head. */
  restMs: number;
}

export function indexerLoop({ indexer, lead, wakeup, restMs }: IndexerLoopDeps): Loop {
  return repeating({
    name: 'indexer',
    restMs,
    wakeup,
    longestStepMs: 120_000,
    async step() {
      const leading = lead();
      return leading !== null && indexer.step(leading);
    },
  });
}
