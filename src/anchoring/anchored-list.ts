/** Lists anchored things, newest first, with any filter and a bounded amount of work per page. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { AnchorStatus } from '../proof/anchor-status.ts';
import type { Kind } from '../proof/kinds.ts';
import { batchStatuses } from './anchored.ts';
import { pendingLeaves } from './leaves/pending-leaves.ts';

/** A kind of anchored thing and a query for its rows. */
export interface AnchoredList<Item extends { id: string }> {
  workspaceId: string;
  /** The kind of the leaves. */
  kind: Kind;
  status: AnchorStatus | undefined;
  /** The page begins after this id. */
  before: string | undefined;
  limit: number;
  /**
   * A select of the filtered rows, without an order, to which conditions on `id` and `version` may be added. It has each
   * thing once, at its newest version.
   */
  select(before: string | undefined): RawBuilder<unknown>;
  /** Reads the items of a select, newest first; with a status, only items in that status. */
  read(
    db: Db,
    wanted: { select: RawBuilder<unknown>; status?: AnchorStatus; limit: number },
  ): Promise<Item[]>;
}

export interface AnchoredPage<Item> {
  items: Item[];
  /** The next page begins after this id; null on the last page. */
  next: string | null;
}

export interface Bounds {
  /** Up to this many leaves in a status are read directly; if there are more, the list walks through the things instead. */
  fewLeaves: number;
  /** Things per walk, and walks per page: after the last walk the page is returned even if it is not full. */
  walkLength: number;
  walksPerPage: number;
}

const usualBounds: Bounds = { fewLeaves: 10_000, walkLength: 5_000, walksPerPage: 4 };

export async function listAnchored<Item extends { id: string }>(
  db: Db,
  list: AnchoredList<Item>,
  bounds: Bounds = usualBounds,
): Promise<AnchoredPage<Item>> {
  const { workspaceId, kind, status, before, limit, select, read } = list;
  if (status === undefined) {
    const newest = sql`${select(before)} order by id desc limit ${limit + 1}`;
    return toPage(await read(db, { select: newest, limit: limit + 1 }), limit);
  }
  // Almost all things are finalized, so a page of them fills quickly. Few have another status, unless the chain is
  // unavailable.
  const few = status === 'finalized' ? null : await findFew(db, status, bounds.fewLeaves);
  if (few !== null) {
    const found = sql`
      select r.* from (${few}) as few
      join lateral (
        ${select(before)} and id = few.subject_id and version = few.version limit 1
      ) as r on few.workspace_id = ${workspaceId} and few.kind = ${kind}`;
    return toPage(await read(db, { select: found, status, limit: limit + 1 }), limit);
  }
  return walk(db, { ...list, status }, bounds);
}

/** Goes through the things, newest first, and reads the status of each. */
async function walk<Item extends { id: string }>(
  db: Db,
  list: AnchoredList<Item> & { status: AnchorStatus },
  { walkLength, walksPerPage }: Bounds,
): Promise<AnchoredPage<Item>> {
  const { status, limit, select, read } = list;
  const items: Item[] = [];
  let next = list.before ?? null;
  for (let walks = 0; walks < walksPerPage; walks += 1) {
    const ahead = select(next ?? undefined);
    // The end of the walk is read first: a thing created meanwhile is newer, so this walk includes it.
    const { rows } = await sql<{ id: string }>`
      select id from (${ahead}) as r order by id desc offset ${walkLength - 1} limit 1`.execute(db);
    const last = rows[0]?.id ?? null;
    const part = last === null ? ahead : sql`${ahead} and id >= ${last}`;
    const wanted = limit + 1 - items.length;
    items.push(...(await read(db, { select: part, status, limit: wanted })));
    next = last;
    if (items.length > limit || last === null) break;
  }
  return items.length > limit ? toPage(items, limit) : { items, next };
}

function toPage<Item extends { id: string }>(rows: Item[], limit: number): AnchoredPage<Item> {
  const items = rows.slice(0, limit);
  return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

/** A select of the leaves in this status; null if there are more than a few. */
async function findFew(db: Db, status: AnchorStatus, most: number): Promise<RawBuilder<unknown> | null> {
  const leaves = await leavesWith(db, status, most);
  if (leaves === null) return null;
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (${leaves} limit ${most + 1}) as found`.execute(db);
  return Number(rows[0]?.count) <= most ? leaves : null;
}

/** Across all workspaces: the number of leaves in a status depends on the chain, not on the workspace. */
async function leavesWith(db: Db, status: AnchorStatus, most: number): Promise<RawBuilder<unknown> | null> {
  if (status === 'pending') {
    const { select, isWhole } = await pendingLeaves(db, most + 1);
    return isWhole ? select : null;
  }
  return sql`
    select l.workspace_id, l.kind, l.subject_id, l.version
    from anchor_batches b
    join anchor_places p on p.batch_id = b.id
    cross join lateral unnest(p.places) with ordinality as at (place, number)
    cross join lateral (select * from anchor_leaves where id = p.first_id + at.number - 1 limit 1) as l
    where b.status <> 'finalized' and b.status = any(${batchStatuses(status)}) and at.place >= 0`;
}
