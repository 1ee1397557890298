/**
 * How far the search for new leaves has come. What has to hold: no leaf is in two batches, and none is forgotten. It is the
 * search of the audit chain (access/audit/audit-chain.ts), which says why it holds after a kill, on another node, on a
 * standby and in a copy.
 *
 * Not in two: whoever makes a batch replaces, in its commit, the position that he has begun with, or fails. What is in a
 * batch already is left out when it comes up again, which happens only in a database that was copied into another cluster.
 *
 * None is forgotten: a leaf is new until a snapshot that shows it is stored, in the commit that puts the leaf into a batch or
 * among those that wait.
 */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { parseSnapshot, type Snapshot, upTo } from '../../db/snapshot.ts';
import { findPlaced } from './leaf-places.ts';

export interface Position {
  /** Of the row; null when there is none yet. */
  number: number | null;
  /** The cluster that is looked at. */
  cluster: string;
  seen: Snapshot;
  /** Null when all leaves were looked through. */
  walk: Walk | null;
}

/** Leaves behind the first id, up to the second, are not looked through yet. */
export interface Walk {
  after: number;
  end: number;
}

interface PositionRow {
  number: number | null;
  seen: string;
  walked_id: number | null;
  end_id: number | null;
  last_id: number | null;
  is_here: boolean;
  here: string;
  now: string;
}

export async function readPosition(db: Db): Promise<Position> {
  const { rows } = await sql<PositionRow>`
    select p.number, p.seen::text, p.walked_id, p.end_id, (select max(id) from anchor_leaves) as last_id,
           p.cluster = here.system_identifier as is_here, here.system_identifier::text as here,
           pg_current_snapshot()::text as now
    from pg_control_system() as here
    left join (select * from anchor_positions order by number desc limit 1) as p on true`.execute(db);
  const { number, here: cluster, last_id, ...row } = rows[0] as PositionRow;
  const now = parseSnapshot(row.now);
  const seen = row.is_here ? parseSnapshot(row.seen) : now;
  // A cluster cannot have seen transactions that are still to come.
  if (!row.is_here || seen.next > now.next)
    return { number, cluster, seen: now, walk: last_id === null ? null : { after: 0, end: last_id } };
  const { walked_id: after, end_id: end } = row;
  return { number, cluster, seen, walk: after === null || end === null ? null : { after, end } };
}

/** What one look has found, to be stored with what became of it. */
export interface Look {
  position: Position;
  /** The snapshot that shows the new leaves, and those that the one before showed. */
  seen: string;
  walk: Walk | null;
  /** New leaves, ascending, without those that are in a batch. */
  fresh: number[];
  /** There are more than the limit, or more to look through. */
  isCut: boolean;
}

/** Always all leaves of a transaction, so that a position between two transactions says what was found. */
export async function findFresh(
  db: Db,
  position: Position,
  { limit, walkLimit }: { limit: number; walkLimit: number },
): Promise<Look> {
  const written = await findWritten(db, position, limit);
  const behind = position.walk && (await findBehind(db, position.walk, walkLimit));
  const ids = behind ? [...new Set([...written.ids, ...behind.ids])] : written.ids;
  const placed = await findPlaced(db, ids);
  const walk = behind?.walk ?? null;
  return {
    position,
    seen: written.seen,
    walk,
    fresh: ids.filter((id) => !placed.has(id)).sort((one, other) => one - other),
    isCut: written.isCut || walk !== null,
  };
}

interface Written {
  ids: number[];
  seen: string;
  isCut: boolean;
}

async function findWritten(db: Db, { seen }: Position, limit: number): Promise<Written> {
  const { rows } = await sql<{ now: string; ids: number[] | null; last: number | null; begun: number }>`
    with found as materialized (
      (select id, written_in from anchor_leaves where written_in = any (${[...seen.open]}::bigint[]))
      union all
      (select id, written_in from anchor_leaves
       where written_in >= ${seen.next} and written_in < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
       order by written_in fetch first (${limit}::integer) rows with ties)
    )
    select pg_current_snapshot()::text as now, json_agg(id) as ids, max(written_in) as last,
           count(*) filter (where written_in >= ${seen.next}) as begun
    from found`.execute(db);
  const { now = '', ids = null, last = null, begun = 0 } = rows[0] ?? {};
  const isCut = begun >= limit && last !== null;
  return { ids: ids ?? [], seen: isCut ? upTo(parseSnapshot(now), last) : now, isCut };
}

/** The next page of all leaves, and what is left behind it. */
async function findBehind(
  db: Db,
  { after, end }: Walk,
  limit: number,
): Promise<{ ids: number[]; walk: Walk | null }> {
  const { rows } = await sql<{ ids: number[] | null }>`
    select json_agg(id) as ids from (
      select id from anchor_leaves where id > ${after} and id <= ${end} order by id limit ${limit}
    ) as page`.execute(db);
  const ids = rows[0]?.ids ?? [];
  return { ids, walk: ids.length === limit ? { after: Math.max(...ids), end } : null };
}

/**
 * Runs in the commit that puts leaves into a batch: those that are not in it wait. Throws when somebody else has stored a look
 * since this one began.
 */
export async function storeLook(
  db: Db,
  { position: { number, cluster }, seen, walk, fresh }: Look,
  { batched, waited }: { batched: number[]; waited: boolean },
): Promise<void> {
  const { numAffectedRows } = await sql`
    with replaced as (delete from anchor_positions where number = ${number} returning 1)
    insert into anchor_positions (number, cluster, seen, walked_id, end_id)
    select ${(number ?? 0) + 1}, ${cluster}, ${seen}::pg_snapshot, ${walk?.after ?? null}::bigint, ${walk?.end ?? null}::bigint
    where exists (select from replaced)
      or (${number === null} and not exists (select from anchor_positions))`.execute(db);
  if (Number(numAffectedRows) !== 1) throw new Error('another batch was made of these leaves meanwhile');
  const taken = new Set(batched);
  const left = fresh.filter((id) => !taken.has(id));
  if (waited) {
    await sql`
      delete from anchor_waiting where leaf_id = any (${`{${batched}}`}::bigint[])`.execute(db);
  }
  if (left.length === 0) return;
  await sql`
    insert into anchor_waiting (leaf_id) select unnest(${`{${left}}`}::bigint[])
    on conflict do nothing`.execute(db);
}

/** The first leaves that wait behind this id, ascending, except those of these vaults. */
export async function findWaiting(
  db: Db,
  { after, without, limit }: { after: number; without: string[]; limit: number },
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select w.leaf_id as id from anchor_waiting w
    cross join lateral (select vault_id from anchor_leaves where id = w.leaf_id limit 1) as l
    where w.leaf_id > ${after} and l.vault_id <> all (${without}::text[])
    order by w.leaf_id limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}
