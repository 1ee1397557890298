/** Runs the indexer on the node that leads. */

import { type Loop, repeating, type Wakeup } from '../../runtime/loop.ts';
import type { Lead } from '../chain.ts';
import type { Indexer } from './indexer.ts';

export interface IndexerLoopDeps {
  indexer: Indexer;
  lead(): Lead | null;
  /** Woken when a block was mined, or a transaction sent. */
  wakeup: Wakeup;
  /** How often to look for a new head: a node of our own can be asked more often than one that others use too. */
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
