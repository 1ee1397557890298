/** Makes guessing slow: tries are counted by account and by address, and each that fails makes the next wait longer. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { networkOf } from '../../runtime/client-network.ts';
import { AppError } from '../../runtime/errors.ts';

export interface Guess {
  /** Whose password or code is tried: an email of whoever signs in, or somebody who is signed in; null: not known. */
  of: { email: string } | { userId: string } | null;
  address: string;
}

export interface SignInThrottle {
  /**
   * Counts the guess as a failure until it is known to be none: many at once are not more than many in a row. Throws
   * rate_limit_exceeded while the account or the address has to wait.
   */
  begin(guess: Guess): Promise<void>;
  /** It was right: the account's failures are forgotten, and the address does not count it. */
  succeeded(guess: Guess): Promise<void>;
  /** It was no guess after all, and counts for nobody. */
  withdraw(guess: Guess): Promise<void>;
  /** Forgets failures of long ago. */
  forgetOld(): Promise<void>;
}

/** Free tries before waiting begins: many people may share an address. */
const freeFailures = { account: 5, address: 20 };
/** Longer than a busy service takes for a try, or it would be over before it is noticed; doubled with each failure. */
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

/** Ends the transaction, so that a refused try counts nowhere. */
class Waiting extends Error {}

/** False while it has to wait. */
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

/** One failure less, and no waiting for it. */
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

/** Always in the same order, so that two tries never wait for each other. */
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

/** Under which name the failures of an account are counted. */
export function accountCounter(email: string): string {
  return `account ${email.trim().toLowerCase().slice(0, 320)}`;
}
