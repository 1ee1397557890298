/** Changes to the queue from outside the dispatcher: skip waiting deliveries, or enqueue one again. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';

const skippedAtOnce = 2000;
/** Bounds the time a request takes. The dispatcher skips the rest when it claims them. */
const mostSteps = 25;

/**
 * Marks the waiting deliveries of an endpoint or a replay as skipped in the log; they can be replayed. Those being sent
 * right now finish as usual. Works in steps; outside a transaction each step commits by itself.
 */
export async function skipWaiting(db: Db, column: 'endpoint_id' | 'replay_id', value: string): Promise<void> {
  for (let step = 0; step < mostSteps; step += 1) {
    const { numAffectedRows } = await skipSome(db, column, value);
    if (Number(numAffectedRows ?? 0) < skippedAtOnce) return;
  }
}

function skipSome(db: Db, column: 'endpoint_id' | 'replay_id', value: string) {
  // Each of the two has its own index.
  const waiting = (asleep: boolean) => sql`array(
    select ctid from webhook_queue
    where asleep = ${sql.lit(asleep)} and ${sql.ref(column)} = ${value} and claim_id is null
    limit ${skippedAtOnce} for update skip locked
  )`;
  return sql`
    with taken as (
      delete from webhook_queue where ctid = any (${waiting(false)} || ${waiting(true)})
      returning workspace_id, delivery_id, created_at
    )
    update webhook_deliveries d set status = 'skipped'
    from taken t where d.workspace_id = t.workspace_id and d.id = t.delivery_id and d.created_at = t.created_at`.execute(
    db,
  );
}

/** Makes the delivery due now, whether it waits for an attempt or has ended. Leaves it alone if a node has claimed it. */
export async function putInAgain(db: Db, workspaceId: string, deliveryId: string): Promise<void> {
  await sql`
    insert into webhook_queue
      (workspace_id, delivery_id, created_at, event_id, endpoint_id, replay_id, retrying, next_attempt_at,
       attempt_count, first_attempt_at)
    select workspace_id, id, created_at, event_id, endpoint_id, replay_id, true, now(),
           attempt_count,
           coalesce(split_part(first_attempt, E'\\t', 1)::json ->> 1, attempts -> 0 ->> 'at')::timestamptz
    from webhook_deliveries where workspace_id = ${workspaceId} and id = ${deliveryId}
    on conflict (workspace_id, delivery_id) do update
    set retrying = true, next_attempt_at = now(), asleep = false,
        -- Its schedule goes on after that as if nobody had asked, unless it was due anyway.
        resume_at = coalesce(webhook_queue.resume_at,
          case when webhook_queue.next_attempt_at > now() then webhook_queue.next_attempt_at end)
    where webhook_queue.claim_id is null`.execute(db);
}
