/** A process that follows a chain with the indexer of a checkout, or only fetches the blocks. */
import type { Connection } from '../src/db/embedded/embedded-postgres.ts';
import type { BlockNode } from './block-node.ts';
import { startChild } from './child.ts';

export interface IndexerPlan {
  /** The checkout whose code it is. */
  root: string;
  /** Of a database that this checkout has migrated. */
  connection: Connection;
  node: Omit<BlockNode, 'pid' | 'stop'>;
  blocks: number;
}

export interface IndexerHost {
  pid: number;
  /** Both return how many seconds it took. */
  fetch(plan: IndexerPlan): Promise<number>;
  index(plan: IndexerPlan): Promise<number>;
  migrate(plan: Pick<IndexerPlan, 'root' | 'connection'>): Promise<void>;
  stop(): Promise<void>;
}

export type IndexerQuestion =
  | ({ ask: 'fetch' | 'index' } & IndexerPlan)
  | ({ ask: 'migrate' } & Pick<IndexerPlan, 'root' | 'connection'>);

const longestMs = 600_000;

export async function startIndexerHost(): Promise<IndexerHost> {
  const child = startChild<IndexerQuestion, number>(new URL('./indexer-host.process.ts', import.meta.url));
  return {
    pid: child.pid,
    fetch: (plan) => child.ask({ ask: 'fetch', ...plan }, longestMs),
    index: (plan) => child.ask({ ask: 'index', ...plan }, longestMs),
    async migrate(plan) {
      await child.ask({ ask: 'migrate', ...plan }, longestMs);
    },
    stop: child.stop,
  };
}
