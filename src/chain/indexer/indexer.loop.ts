/** Runs the indexer on the node that leads. */

import { type Bell, type Loop, repeating } from '../../runtime/loop.ts';
import type { Lead } from '../chain.ts';
import type { Indexer } from './indexer.ts';

export interface IndexerLoopDeps {
  indexer: Indexer;
  lead(): Lead | null;
  /** Rung when a block was mined, or a transaction sent. */
  bell: Bell;
  /** How often to look for a new head: a node of our own can be asked more often than one that others use too. */
  restMs: number;
}

export function indexerLoop({ indexer, lead, bell, restMs }: IndexerLoopDeps): Loop {
  return repeating({
    name: 'indexer',
    restMs,
    bell,
    longestStepMs: 120_000,
    async step() {
      const leading = lead();
      return leading !== null && indexer.step(leading);
    },
  });
}
