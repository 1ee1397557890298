/** A chain that is open for a term: what the node that leads does with it, whichever chain it is. */
import type { ChainConfig } from '../config/config.ts';
import type { Db } from '../db/database.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { LoopLog } from '../runtime/loop.ts';
import type { Chain } from './chain.ts';

export interface OpenChain {
  chain: Chain;
  /** Keeps it going until the signal aborts; beats while it is well. Throws what only a new start can mend. */
  keep(signal: AbortSignal, beat: () => void): Promise<void>;
  /** Ends the use, and lets a node of ours run for whoever leads next. */
  leave(): Promise<void>;
  /** Also after leave: ends a node of ours, unless somebody adopted it since. */
  close(): Promise<void>;
}

export interface OpenChainDeps {
  config: ChainConfig;
  dataDir: string;
  db: Db;
  keyring: Keyring;
  log: LoopLog;
  /** Called when a chain of our own has another block. Nobody tells of those of other chains. */
  onBlock?(): void;
}
