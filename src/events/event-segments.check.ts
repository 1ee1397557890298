/** Checks the segments of the feed: they follow each other without a gap, and name existing events with their types. */
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { rowsPass } from '../db/rows-pass.ts';
import { writtenNumbers } from '../db/written-since.ts';
import type { Finding, Pass } from '../runtime/check.ts';

interface Segment {
  workspace_id: string;
  first_position: number;
  last_position: number;
  types: string[];
  ids_ascend: boolean;
  previous: number | null;
  /** Where the feed was when it was moved ahead to this segment. */
  jumped_from: number | null;
  /** The ids of its events that are not in the table. */
  missing: string[] | null;
  /** The types of those that are. */
  found: string[] | null;
}

/** A segment whose first event is missing counts as new. */
const firstEventAt = sql`
  coalesce((
    select e.created_at from events e where e.workspace_id = event_segments.workspace_id and e.id = event_segments.ids[1]
  ), 'infinity')`;

export function segmentsPass(db: Db): Pass {
  return rowsPass<Segment>({
    db,
    what: 'segments of the feed',
    table: 'event_segments',
    written: [writtenNumbers(db, { table: 'event_segments', column: 'first_position', time: firstEventAt })],
    pageRows: 100,
    key: [{ column: 's.first_position', member: 'first_position' }],
    read: ({ where, end }) => sql<Segment>`
      select s.workspace_id, s.first_position, s.last_position, s.types, told.missing, told.found,
             s.ids = array(select distinct id from unnest(s.ids) as id where starts_with(id, s.id_start) order by id) as ids_ascend,
             (select p.last_position from event_segments p where p.first_position < s.first_position
              order by p.first_position desc limit 1) as previous,
             (select j.after_position from feed_jumps j where j.to_position = s.first_position - 1) as jumped_from
      from event_segments s
      cross join lateral (
        select array_agg(named.id) filter (where e.type is null) as missing,
               array_agg(distinct e.type) filter (where e.type is not null) as found
        from unnest(s.ids) as named (id)
        left join lateral (
          select type from events where workspace_id = s.workspace_id and id = named.id limit 1
        ) as e on true
      ) as told
      where ${where} ${end}`,
    judge: (rows) => rows.flatMap(judge),
  });
}

function judge({ workspace_id: workspace, first_position: first, ...row }: Segment): Finding[] {
  const findings: Finding[] = [];
  const find = (ids: Finding['ids'], rule: string, message: string, advice: string) =>
    findings.push({ rule, ids: { workspace, ...ids }, message, advice });
  const previous = row.previous ?? 0;
  if (previous !== (row.jumped_from ?? first - 1)) {
    find(
      { position: first },
      'feed_gap',
      `A segment of the feed begins at position ${first}, but the one before ends at position ${previous}.`,
      'A segment was removed from the database, or changed: look for it in a backup.',
    );
  }
  for (const event of row.missing ?? []) {
    find(
      { event },
      'feed_event_missing',
      `The feed has the event ${event} between positions ${first} and ${row.last_position}, but there is no such event.`,
      'An event was removed from the database: look for it in a backup.',
    );
  }
  if (row.missing === null && row.found?.join() !== row.types.toSorted().join()) {
    find(
      { position: first },
      'feed_segment_types',
      `The segment of the feed at position ${first} names other types than its events have.`,
      'The row was changed in the database, and events are not found by their type: restore it from a backup.',
    );
  }
  if (!row.ids_ascend) {
    find(
      { position: first },
      'feed_segment_order',
      `The ids of the segment of the feed at position ${first} do not ascend, or do not begin as it says.`,
      'The row was changed in the database: restore it from a backup.',
    );
  }
  return findings;
}
