/** The files of an embedded chain in the data directory; none of them is needed to recover a block. */
import { join } from 'node:path';

export interface ChainPaths {
  home: string;
  gatewayFile: string;
}

/** A folder per chain: two databases may be used with one data directory. */
export function chainPaths(dataDir: string, chainId: number): ChainPaths {
  const home = join(dataDir, 'chain', String(chainId));
  return { home, gatewayFile: join(home, 'gateway.json') };
}
