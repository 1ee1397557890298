/** The low-water mark of the queue: nothing before it is due. A claim starts there and skips entries of ended deliveries. */
import type { Pool } from 'pg';

export interface LowWater {
  /** In PostgreSQL's text format. */
  find(): Promise<string>;
}

export interface LowWaterOptions {
  pool: Pool;
  /** With this many endpoints that have deliveries due, there is no mark. */
  mostEndpoints: number;
}

const everything = '-infinity';
/** The mark is used only when the table has more dead rows than this. */
export const fewDone = 5_000;
const lookMs = 10_000;
/** How often to search from the start, for rows inserted with an earlier time than any open one, as by a slow commit. */
const wholeLookMs = 60_000;

/**
 * While an old snapshot is open, such as a backup's, PostgreSQL keeps every index entry of a delivery that ended since:
 * each 100,000 of them cost 17 ms in every claim. The mark covers all open deliveries, claimed or not, and sleeping ones.
 * New deliveries are due from now on, give or take the duration of a commit. With few dead rows there is nothing to skip.
 */
export function createLowWater({ pool, mostEndpoints }: LowWaterOptions): LowWater {
  let mark = everything;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let wholeAt = Number.NEGATIVE_INFINITY;
  return {
    async find() {
      const now = performance.now();
      if (now - lookedAt < lookMs) return mark;
      const isWhole = now - wholeAt >= wholeLookMs;
      const { rows } = await pool.query<{ mark: string | null }>({
        name: 'webhook-low-water',
        text: lowWaterText,
        values: [isWhole ? everything : mark, mostEndpoints, fewDone],
      });
      mark = rows[0]?.mark ?? everything;
      lookedAt = now;
      if (isWhole) wholeAt = now;
      return mark;
    },
  };
}

const firstOf = (retrying: boolean) => `
  (select q.next_attempt_at as at from webhook_queue q
   where not q.asleep and q.endpoint_id = active.endpoint_id and q.retrying = ${retrying} and q.next_attempt_at >= $1
   order by q.next_attempt_at limit 1)`;

/** Finds endpoints by hopping through the index, like a claim. */
export const lowWaterText = `
with recursive active (endpoint_id, number) as (
  (select endpoint_id, 1 from webhook_queue
   where not asleep and next_attempt_at >= $1 and pg_stat_get_dead_tuples('webhook_queue'::regclass) > $3
   order by endpoint_id limit 1)
  union all
  select next.endpoint_id, active.number + 1 from active cross join lateral (
    select q.endpoint_id from webhook_queue q
    where not q.asleep and q.endpoint_id > active.endpoint_id and q.next_attempt_at >= $1
    order by q.endpoint_id limit 1
  ) as next
  where active.number < $2
)
select case when max(number) = $2 or pg_stat_get_dead_tuples('webhook_queue'::regclass) <= $3 then null else least(
  now() - interval '20 seconds',
  min(first.at),
  (select next_attempt_at from webhook_queue where asleep order by next_attempt_at limit 1)
) end::text as mark
from active left join lateral (
  select min(at) as at from (${firstOf(false)} union all ${firstOf(true)}) as each
) as first on true`;
