/** Slows down guessing: counts failures per account and per address; each failure makes the next attempt wait longer. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { networkOf } from '../../runtime/client-network.ts';
import { AppError } from '../../runtime/errors.ts';

export interface Guess {
  /** Whose password or code is tried: by email when signing in, by user id when signed in; null: unknown. */
  of: { email: string } | { userId: string } | null;
  address: string;
}

export interface SignInThrottle {
  /**
   * Counts the guess as a failure until it turns out otherwise, so that concurrent guesses gain nothing. Throws
   * rate_limit_exceeded while the account or the address has to wait.
   */
  begin(guess: Guess): Promise<void>;
  /** The guess was right: forgets the account's failures, and uncounts this attempt for the address. */
  succeeded(guess: Guess): Promise<void>;
  /** It was not a guess after all: uncounts it. */
  withdraw(guess: Guess): Promise<void>;
  /** Deletes old failures. */
  forgetOld(): Promise<void>;
}

/** Failures before waiting begins. Many people may share an address. */
const freeFailures = { account: 5, address: 20 };
/** Longer than a busy service takes for an attempt, or the wait would end unnoticed; doubles with each failure. */
const firstWaitSeconds = 15;
const longestWaitSeconds = 15 * 60;
const forgottenAfterSeconds = 60 * 60;

interface Counter {
  who: string;
  free: number;
}

export function createSignInThrottle(db: Db): SignInThrottle {
  return {
    async begin(guess) {
      const counters = countersOf(guess);
      const waits = await db
        .transaction()
        .execute(async (db) => {
          for (const counter of counters) if (!(await countFailure(db, counter))) throw new Waiting();
          return false;
        })
        .catch((error) => {
          if (error instanceof Waiting) return true;
          throw error;
        });
      if (waits) throw tooMany(await secondsLeft(db, counters));
    },

    async succeeded(guess) {
      const { account } = namesOf(guess);
      if (account !== null) await db.deleteFrom('sign_in_failures').where('who', '=', account).execute();
      await takeBack(db, [namesOf(guess).address]);
    },

    async withdraw(guess) {
      const { account, address } = namesOf(guess);
      await takeBack(db, account === null ? [address] : [address, account]);
    },

    async forgetOld() {
      await sql`
        delete from sign_in_failures
        where last_at < now() - make_interval(secs => ${forgottenAfterSeconds})`.execute(db);
    },
  };
}

/** Rolls back the transaction, so that a refused attempt is not counted. */
class Waiting extends Error {}

/** False while the counter has to wait. */
async function countFailure(db: Db, { who, free }: Counter): Promise<boolean> {
  const old = sql`f.last_at < now() - make_interval(secs => ${forgottenAfterSeconds})`;
  const { rows } = await sql`
    insert into sign_in_failures as f (who, failures, last_at, until) values (${who}, 1, now(), now())
    on conflict (who) do update set
      failures = case when ${old} then 1 else least(f.failures + 1, 1000) end,
      last_at = now(),
      until = case when ${old} or f.failures + 1 < ${free} then now()
                   else now() + make_interval(secs => least(
                     ${firstWaitSeconds} * power(2, least(f.failures + 1 - ${free}, 20)), ${longestWaitSeconds})) end
    where f.until <= now()
    returning 1`.execute(db);
  return rows.length > 0;
}

/** Uncounts one failure, and ends the wait. */
async function takeBack(db: Db, names: string[]): Promise<void> {
  await sql`
    with last as (delete from sign_in_failures where who = any(${names}) and failures = 1)
    update sign_in_failures set failures = failures - 1, until = now()
    where who = any(${names}) and failures > 1`.execute(db);
}

async function secondsLeft(db: Db, counters: Counter[]): Promise<number> {
  const { rows } = await sql<{ seconds: number | null }>`
    select ceil(extract(epoch from max(until) - now()))::integer as seconds
    from sign_in_failures where who = any(${counters.map(({ who }) => who)})`.execute(db);
  return Math.max(1, rows[0]?.seconds ?? 1);
}

function tooMany(seconds: number): AppError {
  return new AppError('rate_limit_exceeded', `Too many failed attempts. Try again in ${seconds} s.`, {
    retryAfterSeconds: seconds,
  });
}

/** Always in the same order, so that two attempts cannot deadlock. */
function countersOf(guess: Guess): Counter[] {
  const { account, address } = namesOf(guess);
  return [
    { who: address, free: freeFailures.address },
    ...(account === null ? [] : [{ who: account, free: freeFailures.account }]),
  ];
}

function namesOf({ of, address }: Guess): { account: string | null; address: string } {
  return {
    account: of === null ? null : 'email' in of ? accountCounter(of.email) : `user ${of.userId}`,
    address: `address ${networkOf(address)}`,
  };
}

/** The key under which an account's failures are counted. */
export function accountCounter(email: string): string {
  return `account ${email.trim().toLowerCase().slice(0, 320)}`;
}
