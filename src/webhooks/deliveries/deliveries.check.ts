/** Checks the delivery log: each delivery belongs to an event and an endpoint, and log and queue agree. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { type AsOf, rowsPass, timeOf } from '../../db/rows-pass.ts';
import { writtenIds } from '../../db/written-since.ts';
import type { Finding, Pass } from '../../runtime/check.ts';
import { type Attempt, mostAttempts, readAttemptHead } from './attempts.ts';

interface Row {
  workspace_id: string;
  id: string;
  event_id: string;
  endpoint_id: string;
  type: string;
  status: string;
  queued: boolean;
  attempt_count: number;
  first_head: string | null;
  attempts: Pick<Attempt, 'number' | 'statusCode' | 'error'>[];
  own_envelope: boolean;
  event_type: string | null;
  endpoint: boolean;
  left_open: boolean;
}

export function deliveriesPass(db: Db, asOf?: AsOf): Pass {
  return rowsPass<Row>({
    db,
    what: 'deliveries',
    table: 'webhook_deliveries',
    written: [writtenIds(db, 'webhook_deliveries', 'dlv')],
    key: [
      { column: 'd.workspace_id', member: 'workspace_id' },
      { column: 'd.id', member: 'id' },
    ],
    // Leaves out the response bodies, up to 16 KB each. 25 hours: when an endpoint is deleted during an attempt, the
    // retries end within a day.
    read: ({ where, end }) => sql<Row>`
      select d.workspace_id, d.id, d.event_id, d.endpoint_id, d.type, d.status, waiting.queued is not null as queued, d.attempt_count,
             split_part(d.first_attempt, E'\\t', 1) as first_head,
             (select coalesce(json_agg(json_build_object(
                'number', a -> 'number', 'statusCode', a -> 'statusCode', 'error', a -> 'error') order by place), '[]')
              from jsonb_array_elements(d.attempts) with ordinality as attempt (a, place)) as attempts,
             d.envelope is not null as own_envelope, event.type as event_type, endpoint.id is not null as endpoint,
             d.status = 'pending' and coalesce(endpoint.deleted_at < ${timeOf(asOf)} - interval '25 hours', false) as left_open
      from webhook_deliveries d
      left join lateral (
        select e.type from events e where e.workspace_id = d.workspace_id and e.id = d.event_id limit 1
      ) as event on true
      left join lateral (
        select p.id, p.deleted_at from webhook_endpoints p
        where p.workspace_id = d.workspace_id and p.id = d.endpoint_id limit 1
      ) as endpoint on true
      left join lateral (
        select true as queued from webhook_queue q
        where q.workspace_id = d.workspace_id and q.delivery_id = d.id limit 1
      ) as waiting on true
      where ${where} ${end}`,
    judge: (rows) => rows.flatMap(judge),
  });
}

function judge(row: Row): Finding[] {
  const { workspace_id: workspace, id: delivery, event_id: event, endpoint_id: endpoint } = row;
  const faults = [belonging(row), state(row), attempts(row), leftOpen(row)];
  return faults.flatMap((fault) =>
    fault ? [{ rule: fault[0], ids: { workspace, delivery, event, endpoint }, ...told(row, fault) }] : [],
  );
}

/** The rule, what is wrong, and how to fix it. */
type Fault = [rule: string, message: string, advice: string] | null;

function told({ id }: Row, [, message, advice]: NonNullable<Fault>) {
  return { message: `The delivery ${id} ${message}.`, advice };
}

const compare = 'The row was changed in the database: compare it with a backup.';

function belonging(row: Row): Fault {
  if (!row.endpoint)
    return [
      'delivery_without_endpoint',
      `is for the endpoint ${row.endpoint_id}, which does not exist`,
      compare,
    ];
  if (row.own_envelope) return null;
  if (row.event_type === null)
    return ['delivery_without_event', `belongs to the event ${row.event_id}, which does not exist`, compare];
  if (row.event_type !== row.type) {
    return [
      'delivery_of_other_type',
      `has the type ${row.type}, but its event ${row.event_id} has the type ${row.event_type}`,
      compare,
    ];
  }
  return null;
}

function state({ status, queued }: Row): Fault {
  const open = status === 'pending';
  if (queued === open) return null;
  return [
    'delivery_state',
    open ? 'is pending, but is not in the queue' : `is ${status}, but is still in the queue`,
    open
      ? 'It will not be sent: retry it with POST /platform/webhooks/deliveries/{id}/retry.'
      : 'It would be sent again: compare it with a backup.',
  ];
}

function attempts({ status, first_head, attempts: others, attempt_count }: Row): Fault {
  const attempts = [...readFirst(first_head), ...others];
  const kept = Math.min(attempt_count, mostAttempts);
  const numbers = attempts.map(({ number }) => number);
  if (attempts.length !== kept || numbers.some((number, place) => number !== keptNumber(place))) {
    return [
      'delivery_attempts',
      `has attempts in its log that do not match its count of ${attempt_count}`,
      compare,
    ];
  }
  function keptNumber(place: number): number {
    return place === 0 ? 1 : attempt_count - kept + 1 + place;
  }
  const last = attempts.at(-1);
  const code = last?.statusCode ?? 0;
  if (status === 'succeeded' && (last?.error !== null || code < 200 || code > 299)) {
    return [
      'delivery_without_success',
      'counts as succeeded, but the response to its last attempt was not 2xx',
      'The receiver may not have it: replay that time to the endpoint.',
    ];
  }
  return null;
}

/** None if it is not what the service writes: the count then does not match. */
function readFirst(head: string | null): Row['attempts'] {
  try {
    return head === null ? [] : [readAttemptHead(head)];
  } catch {
    return [];
  }
}

function leftOpen({ left_open, endpoint_id }: Row): Fault {
  if (!left_open) return null;
  return [
    'delivery_of_deleted_endpoint',
    `is still open, but its endpoint ${endpoint_id} was deleted more than a day ago`,
    'Start the service if it is stopped: it skips the delivery when it is due.',
  ];
}
