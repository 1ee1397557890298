/** Checks outbox and delivery log: every event is in the feed and has its deliveries, every delivery is in a valid state. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { type AsOf, rowsPass, timeOf } from '../../db/rows-pass.ts';
import { runOnDb } from '../../db/statement.ts';
import { writtenIds } from '../../db/written-since.ts';
import { segmentsPass } from '../../events/event-segments.check.ts';
import { findPositions, keyOf } from '../../events/event-segments.ts';
import type { Check, Finding } from '../../runtime/check.ts';
import { deliveriesPass } from './deliveries.check.ts';

export interface EventsCheckDeps {
  db: Db;
  /** Older deliveries have been dropped. */
  retentionDays: number;
  asOf?: AsOf;
}

interface Row {
  workspace_id: string;
  id: string;
  type: string;
  envelope: string;
  late: boolean;
  /** Endpoints that subscribed to the event at the time and have no delivery of it. */
  missed: { endpoint: string; line: number | null }[] | null;
}

/**
 * Who subscribed when an event was committed is uncertain afterwards, as both times come from the clocks of nodes. It is
 * certain when the endpoint was last changed this long before the event.
 */
const clockSlack = sql`interval '70 minutes'`;

export function eventsCheck({ db, retentionDays, asOf }: EventsCheckDeps): Check {
  return {
    name: 'events',
    passes: [
      rowsPass<Row>({
        db,
        what: 'events',
        table: 'events',
        written: [writtenIds(db, 'events', 'evt')],
        key: [
          { column: 'e.workspace_id', member: 'workspace_id' },
          { column: 'e.id', member: 'id' },
        ],
        read: ({ where, end }) => sql<Row>`
          select e.workspace_id, e.id, e.type, e.envelope, e.created_at < ${timeOf(asOf)} - interval '1 minute' as late,
                 case when e.created_at > now() - ${retentionDays - 1} * interval '1 day' then (
                   select json_agg(json_build_object('endpoint', p.id, 'line', l.position)) from webhook_endpoints p
                   left join webhook_lines l on l.endpoint_id = p.id
                   where p.workspace_id = e.workspace_id and p.deleted_at is null
                     and p.event_types && event_type_patterns(e.type)
                     and (p.filter_path is null or passes_filter(e.envelope, p.filter_path))
                     and greatest(p.created_at, p.updated_at) < e.created_at - ${clockSlack}
                     and not exists (
                       select 1 from webhook_deliveries d
                       where d.workspace_id = e.workspace_id and d.id = first_delivery_id(e.id, p.id)
                         and d.created_at = e.created_at
                     )
                 ) end as missed
          from events e where ${where} ${end}`,
        async judge(rows) {
          const positions = await findPositions(runOnDb(db), rows);
          return rows.flatMap((row) => judge(row, positions.get(keyOf(row)) ?? []));
        },
      }),
      segmentsPass(db),
      deliveriesPass(db, asOf),
    ],
  };
}

function judge({ workspace_id: workspace, id: event, ...row }: Row, positions: number[]): Finding[] {
  const findings: Finding[] = [];
  const ids = { workspace, event };
  if (positions.length === 0 && row.late) {
    findings.push({
      rule: 'event_without_place',
      ids,
      message: `The event ${event} has no position in the feed after more than a minute.`,
      advice:
        'Start the service if it is stopped; otherwise look for the loop event-order in /readyz and in the log.',
    });
  }
  if (positions.length > 1) {
    findings.push({
      rule: 'event_placed_twice',
      ids,
      message: `The event ${event} has more than one position in the feed: ${positions.join(', ')}.`,
      advice: 'Somebody changed the segments of the feed in the database: compare them with a backup.',
    });
  }
  if (!fits(row.envelope, { id: event, type: row.type, workspace_id: workspace })) {
    findings.push({
      rule: 'event_envelope',
      ids,
      message: `The envelope of event ${event} names a different id, type or workspace than its row, or is not JSON.`,
      advice: 'The row was changed in the database: restore it from a backup.',
    });
  }
  for (const { endpoint, line } of row.missed ?? []) {
    // An ordered endpoint gets it when its line comes there.
    if (line !== null && line < Math.min(...positions)) continue;
    findings.push({
      rule: 'event_without_delivery',
      ids: { ...ids, endpoint },
      message: `The endpoint ${endpoint} subscribed to ${row.type} before event ${event}, but has no delivery of it.`,
      advice: `Replay the time around the event to the endpoint: POST /platform/webhooks/endpoints/${endpoint}/replay.`,
    });
  }
  return findings;
}

function fits(envelope: string, expected: Record<string, string>): boolean {
  try {
    const told = JSON.parse(envelope) as Record<string, unknown>;
    return Object.entries(expected).every(([name, value]) => told[name] === value);
  } catch {
    return false;
  }
}
