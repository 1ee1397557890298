/**
 * Notices that something was written to the database, by any node or command: one small statement, instead of one per
 * loop that would look whether there is work for it. Transactions are numbered across the whole server, so what others
 * write to other databases of it wakes loops too.
 */
import type { Pool } from 'pg';
import { type Changes, type Loop, pause, type Wakeup } from '../runtime/loop.ts';
import { hasEnded, parseSnapshot, type Snapshot } from './snapshot.ts';

export interface ChangeWatch extends Changes {
  /** This transaction makes no work for anybody. */
  ignore(transactionId: number): void;
  loop: Loop;
}

interface Follower {
  wakeup: Pick<Wakeup, 'wake'>;
  everyMs: number;
  /** Something has changed since it was woken. */
  changed: boolean;
  wokenAt: number;
}

const usualLookMs = 200;
/** Where nothing has changed for a while, a look half as often saves an idle installation a quarter of its statements. */
const calmAfterMs = 10_000;
const calmLookMs = 400;
const longestAnswerMs = 5_000;
const mostIgnored = 16;

export function createChangeWatch(pool: Pool): ChangeWatch {
  const followers = new Set<Follower>();
  const ignored: number[] = [];
  /** Null: unknown. */
  let seen: Snapshot | null = null;
  let changedAt = performance.now();

  async function hasChanged(): Promise<boolean> {
    const before = seen;
    seen = null;
    seen = await readSnapshot(pool, before);
    return before === null || hasEnded(before, seen, ignored);
  }

  function lookMs(): number {
    if (performance.now() - changedAt > calmAfterMs) return calmLookMs;
    return Math.min(usualLookMs, ...[...followers].map(({ everyMs }) => everyMs));
  }

  function tell(changed: boolean): void {
    const now = performance.now();
    if (changed) changedAt = now;
    for (const follower of followers) {
      follower.changed ||= changed;
      // The next look would be too late.
      const isDue = now + lookMs() - follower.wokenAt > follower.everyMs;
      if (!follower.changed || !isDue) continue;
      follower.changed = false;
      follower.wokenAt = now;
      follower.wakeup.wake();
    }
  }

  return {
    follow(wakeup, everyMs) {
      const follower = { wakeup, everyMs, changed: false, wokenAt: performance.now() };
      followers.add(follower);
      return () => void followers.delete(follower);
    },
    ignore(transactionId) {
      ignored.push(transactionId);
      if (ignored.length > mostIgnored) ignored.shift();
    },
    loop: {
      name: 'database-changes',
      stuckAfterMs: 30_000,
      async run(signal, beat) {
        while (!signal.aborted) {
          // Without an answer anything may have changed. The loops that need the database report why there is none.
          tell(await hasChanged().catch(() => true));
          beat();
          await pause(lookMs(), signal);
        }
      },
    },
  };
}

async function readSnapshot(pool: Pool, before: Snapshot | null): Promise<Snapshot> {
  const asked = {
    name: 'database-changes',
    text: 'select pg_current_snapshot()::text as snapshot',
    query_timeout: longestAnswerMs,
  };
  const { rows } = await pool.query<{ snapshot: string }>(asked);
  const text = rows[0]?.snapshot ?? '';
  return text === before?.text ? before : parseSnapshot(text);
}
