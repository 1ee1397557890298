/**
 * Segments of the feed: the positions of up to 48 events of a workspace in one row, which is written once. The ids of a
 * segment begin with the same second, so the segment of an event is found by its id in a few index entries.
 */
import type { RunStatement } from '../db/statement.ts';

/** The key of an event. */
export interface EventKey {
  workspace_id: string;
  id: string;
}

export interface PlacedEvent extends EventKey {
  type: string;
}

export const mostInSegment = 48;
/** Of an id: the prefix, and the first 8 of its digits, which are 1024 milliseconds. */
const startLength = 12;

/** A row of `event_segments`. */
export interface Segment {
  first_position: number;
  last_position: number;
  workspace_id: string;
  id_start: string;
  ids: string[];
  types: string[];
}

/** Gives events the positions after `tail`: those of a workspace in the order of their ids. Only the holder of `locks.eventOrder` may. */
export function segmentsOf(events: PlacedEvent[], tail: number): Segment[] {
  const sorted = events.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const groups = Map.groupBy(sorted, ({ workspace_id, id }) => `${workspace_id} ${id.slice(0, startLength)}`);
  const segments: Segment[] = [];
  let last = tail;
  for (const group of groups.values()) {
    for (let start = 0; start < group.length; start += mostInSegment) {
      const some = group.slice(start, start + mostInSegment);
      const { workspace_id, id } = some[0] as PlacedEvent;
      segments.push({
        first_position: last + 1,
        last_position: last + some.length,
        workspace_id,
        id_start: id.slice(0, startLength),
        ids: some.map(({ id }) => id),
        types: [...new Set(some.map(({ type }) => type))],
      });
      last += some.length;
    }
  }
  return segments;
}

export function keyOf({ workspace_id, id }: EventKey): string {
  return `${workspace_id} ${id}`;
}

/** The positions of events by `keyOf`; more than one only if somebody changed the database. Without events that have none. */
export async function findPositions(run: RunStatement, events: EventKey[]): Promise<Map<string, number[]>> {
  const positions = new Map<string, number[]>();
  if (events.length === 0) return positions;
  // Lateral and in order: an index answers for each second, whatever the statistics are. A second may have thousands of
  // segments, of which only those are opened that may have one of the events; no event is compared with each other one.
  const rows = await run<EventKey & { position: number }>({
    name: 'event-positions',
    text: `
      select s.workspace_id, p.id, s.first_position + p.number - 1 as position
      from (
        select workspace_id, left(id, ${startLength}) as id_start, min(id collate "C") as first, max(id collate "C") as last
        from unnest($1::text[], $2::text[]) as event (workspace_id, id) group by 1, 2
      ) as wanted
      cross join lateral (
        select * from event_segments s where s.workspace_id = wanted.workspace_id and s.id_start = wanted.id_start
        order by s.workspace_id, s.id_start
      ) as s
      cross join lateral unnest(s.ids) with ordinality as p (id, number)
      where s.ids[1] <= wanted.last and s.ids[cardinality(s.ids)] >= wanted.first and p.id = any ($2::text[])`,
    values: [events.map(({ workspace_id }) => workspace_id), events.map(({ id }) => id)],
  });
  for (const row of rows) positions.set(keyOf(row), [...(positions.get(keyOf(row)) ?? []), row.position]);
  return positions;
}
