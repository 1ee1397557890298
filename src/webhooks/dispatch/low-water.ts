/** The time before which nothing of the queue is due any more: a claim begins there, and meets none that are long done. */
import type { Pool } from 'pg';

export interface LowWater {
  /** As PostgreSQL writes times. */
  find(): Promise<string>;
}

export interface LowWaterOptions {
  pool: Pool;
  /** Where more than these have something due, nothing is known. */
  mostEndpoints: number;
}

const everything = '-infinity';
/** Rows that are done and still there, from which on it is worth to know where to begin. */
export const fewDone = 5_000;
const lookMs = 10_000;
/** From the start, for what came in with an earlier time than any that was open: a commit that took long, say. */
const wholeLookMs = 60_000;

/**
 * While an old snapshot is open, a backup's say, PostgreSQL keeps every index entry of a delivery that was done since:
 * 17 ms for each 100,000 in every claim. Whatever is open now is counted in, claimed or not, and what waits asleep; what
 * comes in is due from then on, give or take what a commit takes. Where little is done there is nothing to pass over.
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

/** Endpoints are found by hopping, as in a claim. */
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
