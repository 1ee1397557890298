/**
 * Whether a batch of a head alone is due. While nothing is anchored there are no heads, but certificates end all the same,
 * and what an authority missed before the silence has no token.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { hasDueForRenewal, isTokenAwaited } from './head-evidence.ts';
import type { PlannedStamp } from './renewal-rule.ts';

/** Without batches for this long, no other head is going to cover what is left. */
export const idleMs = 600_000;
/** As many are stamped each by itself: on a public chain another batch costs more than some requests. */
export const mostStampedSingly = 3;
const longestMinutes = 60;

/** Only asked when an authority that is well may be asked at once: a head that nobody stamps would be in vain. */
export async function isHeadAloneDue(db: Db, planned: PlannedStamp): Promise<boolean> {
  const { rows } = await sql<{ idle: boolean; recent: boolean; unstamped: number }>`
    select b.created_at < now() - make_interval(secs => ${idleMs / 1000}) as idle,
      coalesce((select created_at from anchor_batches where size = 0 order by id desc limit 1)
        > now() - make_interval(mins => ${longestMinutes}), false) as recent,
      (select count(*) from (
        select 1 from anchor_batches where not stamped limit ${mostStampedSingly + 1}) as counted) as unstamped
    from anchor_batches b order by b.id desc limit 1`.execute(db);
  const [found] = rows;
  if (!found?.idle || found.recent || (await isTokenAwaited(db))) return false;
  return found.unstamped > mostStampedSingly || hasDueForRenewal(db, planned);
}
