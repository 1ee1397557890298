/** The sign that deliveries are late. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { Watch } from '../../events/notice.ts';

const lateSeconds = 60;
/** Bounds the work: of a larger queue, any of the first ones is as late as any other. */
const mostRead = 10_000;

export function lateDeliveries(db: Db): Watch {
  return {
    name: 'deliveries',
    async look() {
      const { rows } = await sql<{ oldest: number | null }>`
        select extract(epoch from now() - min(next_attempt_at))::float8 as oldest
        from (select next_attempt_at, claim_id from webhook_queue limit ${mostRead}) as read
        where claim_id is null and next_attempt_at <= now()`.execute(db);
      if ((rows[0]?.oldest ?? 0) <= lateSeconds) return [];
      const loop = 'webhook-dispatcher';
      return [
        {
          type: 'operator.loop.failing',
          subject: `${loop} late`,
          data: { loop, how: 'late' },
          holdMs: 5 * 60_000,
        },
      ];
    },
  };
}
