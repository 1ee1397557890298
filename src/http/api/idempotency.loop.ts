/** Deletes the stored answers of idempotent requests after 24 hours. */
import type { Db } from '../../db/database.ts';
import { type Loop, repeating } from '../../runtime/loop.ts';
import { forgetOldAnswers } from './idempotency.ts';

export function idempotencyLoop(db: Db): Loop {
  return repeating({
    name: 'idempotent-answers',
    restMs: 10 * 60 * 1000,
    async step() {
      await forgetOldAnswers(db);
      return false;
    },
  });
}
