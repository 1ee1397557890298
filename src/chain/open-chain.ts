/** A chain that is open for a term: the interface that the leader uses for the embedded chain and for others. */
import type { ChainConfig } from '../config/config.ts';
import type { Db } from '../db/database.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { LoopLog } from '../runtime/loop.ts';
import type { Chain } from './chain.ts';

export interface OpenChain {
  chain: Chain;
  /** Keeps the chain running until the signal aborts; beats while it is healthy. Throws what only a restart can fix. */
  keep(signal: AbortSignal, beat: () => void): Promise<void>;
  close(): Promise<void>;
}

export interface OpenChainDeps {
  config: ChainConfig;
  dataDir: string;
  db: Db;
  keyring: Keyring;
  log: LoopLog;
  /** Called for each new block of the embedded chain. Other chains do not announce their blocks. */
  onBlock?(): void;
}
