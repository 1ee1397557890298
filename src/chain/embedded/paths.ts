/** Where an embedded chain keeps its files below the data directory; all of them could be lost without losing a block. */
import { join } from 'node:path';

export interface ChainPaths {
  home: string;
  genesisFile: string;
  /** Which process is our node. */
  pidFile: string;
  /** Where others may ask it. */
  gatewayFile: string;
  logFile: string;
  /** A dump while it is unpacked for the node. */
  loadFile: string;
}

/** A folder per chain: two databases may be used with one data directory. */
export function chainPaths(dataDir: string, chainId: number): ChainPaths {
  const home = join(dataDir, 'chain', String(chainId));
  return {
    home,
    genesisFile: join(home, 'genesis.json'),
    pidFile: join(home, 'anvil.json'),
    gatewayFile: join(home, 'gateway.json'),
    logFile: join(home, 'anvil.log'),
    loadFile: join(home, 'load.json'),
  };
}
