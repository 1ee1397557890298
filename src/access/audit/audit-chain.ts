/**
 * Chains new audit entries. What has to hold: no entry is chained twice, and none is left out.
 *
 * Not twice: one node chains at a time, and leaves out what it finds in a segment already. That does not depend on any
 * number of a transaction.
 *
 * None is left out: each round reads the entries written by transactions that the snapshot of the round before did not
 * show: those open then, and those begun since. A snapshot shows either all rows of a transaction or none, so every entry
 * comes up in the first round after its commit, however late that is, and an open transaction delays no other. The snapshot
 * is stored in the commit that chains what it shows. After a kill, on another node, in a copy from any moment, or on a
 * standby that has lost the last commits, the database therefore has both or neither, and goes on to number transactions
 * behind all that it knows.
 *
 * Only a database whose rows were copied into another cluster, as by a restore, has numbers that mean nothing there. Then,
 * or without a position, the whole table is walked through by key, in pages, beside the search for new entries. Later,
 * transactions get numbers that copied entries have too: those come up once more, and are in a segment.
 */
import { sql } from 'kysely';
import { locks, tryWithLock } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/database.ts';
import { parseSnapshot, type Snapshot, upTo } from '../../db/snapshot.ts';
import { insertAll } from '../../db/writes.ts';
import { findPlaces, keyOf, segmentWrites } from './audit-segments.ts';

/** Chains new entries, separately for each workspace; true when there may be more, `again` while another node does so. */
export function chainAuditEntries(db: Db, { limit = 2000 } = {}): Promise<boolean | 'again'> {
  return tryWithLock(db, locks.auditChain, async (db) => {
    const position = await readPosition(db);
    const look = await findWritten(db, position, limit);
    const walk = position.walked && (await findBehind(db, position.walked, limit));
    if (look.entries.length === 0 && !walk) return false;
    const entries = walk ? withoutRepeats([...look.entries, ...walk.entries]) : look.entries;
    const places = await findPlaces(db, entries);
    const waiting = places.size === 0 ? entries : entries.filter((entry) => !places.has(keyOf(entry)));
    if (waiting.length > 0) await insertAll(db, await segmentWrites(db, waiting));
    await replacePosition(db, position, { seen: look.seen, walked: walk?.walked ?? null });
    return look.isCut || walk?.walked != null;
  });
}

type Key = [workspaceId: string, id: string];

interface Position {
  /** Of the row; null when there is none yet. */
  number: number | null;
  /** The cluster that is looked at. */
  cluster: string;
  seen: Snapshot;
  /** Entries behind this key are not looked through yet; null when all were. */
  walked: Key | null;
}

interface PositionRow {
  number: number | null;
  seen: string;
  walked_workspace: string | null;
  walked_id: string | null;
  is_here: boolean;
  here: string;
  now: string;
}

async function readPosition(db: Db): Promise<Position> {
  const { rows } = await sql<PositionRow>`
    select p.number, p.seen::text, p.walked_workspace, p.walked_id, p.cluster = here.system_identifier as is_here,
           here.system_identifier::text as here, pg_current_snapshot()::text as now
    from pg_control_system() as here
    left join (select * from audit_positions order by number desc limit 1) as p on true`.execute(db);
  const row = rows[0] as PositionRow;
  const now = parseSnapshot(row.now);
  const seen = row.is_here ? parseSnapshot(row.seen) : now;
  // A cluster cannot have seen transactions that are still to come.
  const { number, here: cluster, walked_workspace, walked_id } = row;
  if (!row.is_here || seen.next > now.next) return { number, cluster, seen: now, walked: ['', ''] };
  const walked: Key | null = walked_workspace === null ? null : [walked_workspace, walked_id ?? ''];
  return { number, cluster, seen, walked };
}

/** An update, in effect; see the migration for why it is none. */
async function replacePosition(
  db: Db,
  { number, cluster }: Position,
  { seen, walked }: { seen: string; walked: Key | null },
): Promise<void> {
  await sql`
    with replaced as (delete from audit_positions where number = ${number})
    insert into audit_positions (cluster, seen, walked_workspace, walked_id)
    values (${cluster}, ${seen}, ${walked?.[0] ?? null}, ${walked?.[1] ?? null})`.execute(db);
}

interface Entry {
  workspace_id: string;
  id: string;
  digest: Buffer;
}

function withoutRepeats(entries: Entry[]): Entry[] {
  return [...new Map(entries.map((entry) => [keyOf(entry), entry])).values()];
}

interface Written {
  entries: Entry[];
  /** The snapshot that shows these entries, and those that the one before showed. */
  seen: string;
  /** There are more than the limit. */
  isCut: boolean;
}

/** Always all entries of a transaction, so that a position between two transactions says what was found. */
async function findWritten(db: Db, { seen }: Position, limit: number): Promise<Written> {
  const { rows } = await sql<{ now: string; written_in: number | null } & Entry>`
    with looked as materialized (select pg_current_snapshot()::text as now)
    select looked.now, found.* from looked
    left join lateral (
      (select written_in, workspace_id, id, digest from audit_entries where written_in = any (${[...seen.open]}::bigint[]))
      union all
      (select written_in, workspace_id, id, digest from audit_entries
       where written_in >= ${seen.next} and written_in < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
       order by written_in fetch first (${limit}::integer) rows with ties)
    ) as found on true`.execute(db);
  const now = parseSnapshot(rows[0]?.now ?? '');
  const entries = rows.filter(({ written_in }) => written_in !== null);
  const begun = entries.map(({ written_in }) => written_in ?? 0).filter((number) => number >= seen.next);
  const isCut = begun.length >= limit;
  return { entries, seen: isCut ? upTo(now, Math.max(...begun)) : now.text, isCut };
}

/** The next page of all entries, in the order of their keys. */
async function findBehind(
  db: Db,
  [workspaceId, id]: Key,
  limit: number,
): Promise<{ entries: Entry[]; walked: Key | null }> {
  const { rows: entries } = await sql<Entry>`
    select workspace_id, id, digest from audit_entries where (workspace_id, id) > (${workspaceId}, ${id})
    order by workspace_id, id limit ${limit}`.execute(db);
  const last = entries.at(-1);
  const walked: Key | null = last && entries.length === limit ? [last.workspace_id, last.id] : null;
  return { entries, walked };
}
