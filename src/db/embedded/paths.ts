/** Paths of the embedded PostgreSQL below the data directory. */
import { join } from 'node:path';

export interface Paths {
  /** Contains all the others. It is created by one rename, so that password and cluster always match. */
  home: string;
  /** PGDATA; owned by the account that runs the server. */
  clusterDir: string;
  passwordFile: string;
  /** The server's stderr. */
  logFile: string;
  /** Empty; locked by the process that starts the server. */
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

/** Of an upgrade to another major version. */
export function upgradePaths(dataDir: string) {
  const workDir = join(dataDir, 'upgrade');
  return {
    /** The data directory of the new cluster until it is complete. */
    workDir,
    /** Exists once the new cluster is complete, and until it is in its place. */
    finished: join(workDir, 'finished'),
    /** Where the old cluster is kept. */
    kept: (major: string) => join(dataDir, `postgres-${major}`),
  };
}
