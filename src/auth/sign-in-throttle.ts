/** Makes guessing slow: failed sign-ins are counted by account and by address, and each makes the next wait longer. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { AppError } from '../errors.ts';

export interface SignInAttempt {
  email: string;
  address: string;
}

export interface SignInThrottle {
  /** Throws rate_limit_exceeded while the account or the address has to wait. */
  check(attempt: SignInAttempt): Promise<void>;
  failed(attempt: SignInAttempt): Promise<void>;
  succeeded(attempt: SignInAttempt): Promise<void>;
  /** Forgets failures of long ago. */
  forgetOld(): Promise<void>;
}

/** Free tries before waiting begins: many people may share an address. */
const freeFailures = { account: 5, address: 20 };
const longestWaitSeconds = 15 * 60;
const forgottenAfterSeconds = 60 * 60;

export function createSignInThrottle(db: Db): SignInThrottle {
  return {
    async check(attempt) {
      const { rows } = await sql<{ seconds: number }>`
        select ceil(extract(epoch from max(until) - now()))::integer as seconds
        from sign_in_failures where who = any(${countersOf(attempt).map(({ who }) => who)}) and until > now()
        having max(until) is not null`.execute(db);
      const [wait] = rows;
      if (!wait) return;
      throw new AppError('rate_limit_exceeded', `Too many failed sign-ins. Try again in ${wait.seconds} s.`, {
        retryAfterSeconds: wait.seconds,
      });
    },

    async failed(attempt) {
      for (const { who, free } of countersOf(attempt)) {
        await sql`
          insert into sign_in_failures as f (who, failures, last_at, until) values (${who}, 1, now(), now())
          on conflict (who) do update set
            failures = case when f.last_at < now() - make_interval(secs => ${forgottenAfterSeconds}) then 1
                            else least(f.failures + 1, 1000) end,
            last_at = now(),
            until = case when f.last_at < now() - make_interval(secs => ${forgottenAfterSeconds}) then now()
                         else now() + make_interval(secs => least(
                           power(2, least(f.failures + 1 - ${free}, 20)), ${longestWaitSeconds})) *
                           (f.failures + 1 >= ${free})::integer end`.execute(db);
      }
    },

    async succeeded(attempt) {
      const [account] = countersOf(attempt);
      await db.deleteFrom('sign_in_failures').where('who', '=', account.who).execute();
    },

    async forgetOld() {
      await sql`
        delete from sign_in_failures
        where last_at < now() - make_interval(secs => ${forgottenAfterSeconds})`.execute(db);
    },
  };
}

function countersOf({ email, address }: SignInAttempt) {
  return [
    { who: `account ${email.trim().toLowerCase().slice(0, 320)}`, free: freeFailures.account },
    { who: `address ${address}`, free: freeFailures.address },
  ] as const;
}
