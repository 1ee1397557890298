/** Forgets what is over: sessions, sign-ins that were not finished, and failures of long ago. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { type Loop, repeating } from '../../runtime/loop.ts';
import { sessionSeconds } from './sign-in.ts';
import { createSignInThrottle } from './sign-in-throttle.ts';

export function peopleUpkeepLoop(db: Db): Loop {
  return repeating({
    name: 'people-upkeep',
    restMs: 10 * 60 * 1000,
    async step() {
      await forgetOver(db);
      return false;
    },
  });
}

export async function forgetOver(db: Db): Promise<void> {
  await sql`
    delete from sessions
    where expires_at < now() or updated_at < now() - make_interval(secs => ${sessionSeconds.unused})`.execute(
    db,
  );
  await sql`delete from verifications where expires_at < now()`.execute(db);
  await createSignInThrottle(db).forgetOld();
}
