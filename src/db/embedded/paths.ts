/** Where the embedded PostgreSQL keeps its things below the data directory. */
import { join } from 'node:path';

export interface Paths {
  /** Holds all the others. It comes into being by one rename, so that password and cluster always fit together. */
  home: string;
  /** PGDATA; belongs to the account that runs the server. */
  clusterDir: string;
  passwordFile: string;
  /** What the server writes to stderr. */
  logFile: string;
  /** Empty; whoever starts the server locks it. */
  startLock: string;
}

export function pathsIn(home: string): Paths {
  return {
    home,
    clusterDir: join(home, 'cluster'),
    passwordFile: join(home, 'password'),
    logFile: join(home, 'server.log'),
    startLock: join(home, 'start.lock'),
  };
}
