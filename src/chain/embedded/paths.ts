/** The files of an embedded chain in the data directory; none of them is needed to recover a block. */
import { join } from 'node:path';

export interface ChainPaths {
  home: string;
  genesisFile: string;
  /** Identifies our node's process. */
  pidFile: string;
  /** The gateway's address. */
  gatewayFile: string;
  logFile: string;
  /** A dump, unpacked for the node to load. */
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
