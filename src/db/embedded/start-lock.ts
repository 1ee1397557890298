/** The lock that lets only one process at a time start the server. */
import { DatabaseSync } from 'node:sqlite';

/** SQLITE_BUSY in the low byte; see https://www.sqlite.org/rescode.html */
const busy = 5;

/**
 * Takes the lock and returns a function that releases it, or null when another process holds it. It is the lock of an
 * empty SQLite database, because Node offers no other file lock that the kernel releases when the holder is killed.
 *
 * PostgreSQL's own interlock is not enough: when two servers start at once and find the postmaster.pid of a killed one,
 * the second may unlink the file that the first has just put in its place (CreateLockFile in miscinit.c). The second
 * then fails at the shared memory, and the first keeps running where nobody finds it. Nor could clearForeignPidFile be
 * sure whose file it removes.
 */
export function tryStartLock(path: string): (() => void) | null {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('begin exclusive');
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && Number(error.errcode) % 256 === busy) return null;
    throw error;
  }
  return () => database.close();
}
