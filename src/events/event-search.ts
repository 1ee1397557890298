/**
 * Finds events that have no position in the feed yet. It is the search of the audit chain (access/audit/audit-chain.ts),
 * which says why no event is left out, after a kill, on another node, on a standby and in a copy.
 *
 * None is found twice either: the snapshot that shows an event is stored in the commit that places it, and whoever places
 * events holds a lock. Only the numbers of events that were copied from another cluster can come up again, so these are
 * looked up in the segments, as is everything that is found by walking through the table.
 */
import { parseSnapshot, type Snapshot, upTo } from '../db/snapshot.ts';
import type { RunStatement } from '../db/statement.ts';
import { findPositions, keyOf, type PlacedEvent, segmentsOf } from './event-segments.ts';
import { tailText } from './feed.ts';

type Key = [workspaceId: string, id: string];

export interface SearchPosition {
  /** Of the row; null when there is none yet. */
  number: number | null;
  /** The cluster that is looked at. */
  cluster: string;
  seen: Snapshot;
  /** Events behind this key are not looked through yet; null when all were. */
  walked: Key | null;
  /** Events up to this transaction number may have been copied from another cluster. */
  copiedUntil: number;
  /** The last position of the feed. */
  tail: number;
}

interface PositionRow {
  number: number | null;
  seen: string;
  walked_workspace: string | null;
  walked_id: string | null;
  copied_until: number;
  is_here: boolean;
  here: string;
  now: string;
  tail: number;
}

export async function readSearchPosition(run: RunStatement): Promise<SearchPosition> {
  const rows = await run<PositionRow>({
    name: 'event-search-position',
    text: `
      select p.number, p.seen::text, p.walked_workspace, p.walked_id, p.copied_until,
             p.cluster = here.system_identifier as is_here, here.system_identifier::text as here,
             pg_current_snapshot()::text as now, (${tailText}) as tail
      from pg_control_system() as here
      left join (select * from event_positions order by number desc limit 1) as p on true`,
    values: [],
  });
  const { number, here: cluster, tail, ...row } = rows[0] as PositionRow;
  const now = parseSnapshot(row.now);
  const seen = row.is_here ? parseSnapshot(row.seen) : now;
  // A cluster cannot have seen transactions that are still to come.
  if (!row.is_here || seen.next > now.next) {
    return { number, cluster, seen: now, walked: ['', ''], copiedUntil: await findLastNumber(run), tail };
  }
  const walked: Key | null =
    row.walked_workspace === null ? null : [row.walked_workspace, row.walked_id ?? ''];
  return { number, cluster, seen, walked, copiedUntil: row.copied_until, tail };
}

async function findLastNumber(run: RunStatement): Promise<number> {
  const rows = await run<{ last: number }>({
    name: 'event-search-last',
    text: 'select coalesce(max(written_in), 0) as last from events where written_in > 0',
    values: [],
  });
  return rows[0]?.last ?? 0;
}

/** What one look has found, to be stored with the positions of its events. */
export interface Look {
  events: PlacedEvent[];
  /** The snapshot that shows these events, and those that the one before showed. */
  seen: string;
  walked: Key | null;
  /** There are more than the limit, or more to look through. */
  isCut: boolean;
}

/** Null when nothing has changed since the last look. */
export async function findUnplaced(
  run: RunStatement,
  position: SearchPosition,
  limit: number,
): Promise<Look | null> {
  // Before the search, which therefore finds every new event that the walk has come across. So it does not come up later.
  const behind = position.walked && (await findBehind(run, position.walked, limit));
  const written = await findWritten(run, position.seen, limit);
  if (written.events.length === 0 && !behind) return null;
  const { seen } = written;
  if (!behind || written.isCut) {
    const copied = written.events.filter(({ written_in }) => written_in <= position.copiedUntil);
    const events = await without(run, written.events, copied);
    return { events, seen, walked: position.walked, isCut: written.isCut };
  }
  const all = [
    ...new Map([...written.events, ...behind.events].map((event) => [keyOf(event), event])).values(),
  ];
  return { events: await without(run, all, all), seen, walked: behind.walked, isCut: behind.walked !== null };
}

/** All but those of the suspects that have a position. */
async function without(
  run: RunStatement,
  events: PlacedEvent[],
  suspects: PlacedEvent[],
): Promise<PlacedEvent[]> {
  const placed = await findPositions(run, suspects);
  return placed.size === 0 ? events : events.filter((event) => !placed.has(keyOf(event)));
}

interface Written {
  events: (PlacedEvent & { written_in: number })[];
  seen: string;
  isCut: boolean;
}

/** Always all events of a transaction, so that a position between two transactions says what was found. */
async function findWritten(run: RunStatement, seen: Snapshot, limit: number): Promise<Written> {
  const rows = await run<{ now: string; written_in: number | null } & PlacedEvent>({
    name: 'event-search',
    text: `
      with looked as materialized (select pg_current_snapshot()::text as now)
      select looked.now, found.* from looked
      left join lateral (
        (select written_in, workspace_id, id, type from events
         where written_in > 0 and written_in = any ($1::bigint[]))
        union all
        (select written_in, workspace_id, id, type from events
         where written_in > 0 and written_in >= $2
           and written_in < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
         order by written_in fetch first ($3::integer) rows with ties)
      ) as found on true`,
    values: [[...seen.open], seen.next, limit],
  });
  const now = parseSnapshot(rows[0]?.now ?? '');
  const events = rows.filter((row): row is typeof row & { written_in: number } => row.written_in !== null);
  const begun = events.filter(({ written_in }) => written_in >= seen.next);
  const isCut = begun.length >= limit;
  const last = Math.max(...begun.map(({ written_in }) => written_in));
  return { events, seen: isCut ? upTo(now, last) : now.text, isCut };
}

/** The next page of all events, in the order of their keys. */
async function findBehind(
  run: RunStatement,
  [workspaceId, id]: Key,
  limit: number,
): Promise<{ events: PlacedEvent[]; walked: Key | null }> {
  const events = await run<PlacedEvent>({
    name: 'event-search-behind',
    text: `select workspace_id, id, type from events where (workspace_id, id) > ($1, $2)
           order by workspace_id, id limit $3`,
    values: [workspaceId, id, limit],
  });
  const last = events.at(-1);
  return { events, walked: last && events.length === limit ? [last.workspace_id, last.id] : null };
}

/** Whether events may wait for their position. */
export async function mayHaveUnplaced(
  run: RunStatement,
  { number, walked, seen }: SearchPosition,
): Promise<boolean> {
  if (number === null || walked !== null) return true;
  return (await findWritten(run, seen, 1)).events.length > 0;
}

/** Gives the events of the look their positions, and stores how far it has come: both or neither. */
export async function storeLook(
  run: RunStatement,
  { number, cluster, copiedUntil, tail }: SearchPosition,
  { events, seen, walked }: Look,
): Promise<void> {
  // The position is updated, in effect; see the migration for why it is not.
  await run({
    name: 'event-search-store',
    text: `
      with replaced as (delete from event_positions where number = $1),
      stored as (
        insert into event_positions (number, cluster, seen, walked_workspace, walked_id, copied_until)
        values (coalesce($1, 0) + 1, $2, $3, $4, $5, $6)
      )
      insert into event_segments (first_position, last_position, workspace_id, id_start, ids, types)
      select first_position, last_position, workspace_id, id_start, ids, types
      from json_populate_recordset(null::event_segments, $7)`,
    values: [
      ...[number, cluster, seen, walked?.[0] ?? null, walked?.[1] ?? null, copiedUntil],
      JSON.stringify(segmentsOf(events, tail)),
    ],
  });
}
