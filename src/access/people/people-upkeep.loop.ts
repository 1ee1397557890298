/** Deletes expired sessions, unfinished sign-ins, and old sign-in failures. */
import type { Db } from '../../db/database.ts';
import { type Loop, repeating } from '../../runtime/loop.ts';
import { forgetOver } from './sessions.ts';

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
