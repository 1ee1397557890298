/** Lists records, newest first: each at its newest version, whatever it is filtered by, with bounded work for a page. */
import { type RawBuilder, sql } from 'kysely';
import { type AnchorStatus, batchStatuses } from '../anchoring/anchor-state.ts';
import type { Db } from '../db/database.ts';
import { idBound } from '../ids.ts';
import { type RecordVersion, readRecords, recordKind } from './records.store.ts';

export interface RecordQuery {
  vaultId?: string | undefined;
  externalId?: string | undefined;
  status?: AnchorStatus | undefined;
  /** When the record, its first version that is, was created: `from` is included, `to` is not. */
  from?: Date | undefined;
  to?: Date | undefined;
  /** Id after which the page begins. */
  before?: string | undefined;
  limit: number;
}

export interface RecordPage {
  items: RecordVersion[];
  /** Id after which the list goes on; null at its end. */
  next: string | null;
}

export interface Bounds {
  /** Leaves that are looked at to find all of one status; when there are more, records are walked instead. */
  fewLeaves: number;
  /** Records that are walked at once, and how often for a page: one that is not full by then is given as it is. */
  walkLength: number;
  walksPerPage: number;
}

const usualBounds: Bounds = { fewLeaves: 10_000, walkLength: 5_000, walksPerPage: 4 };

export async function listRecords(
  db: Db,
  workspaceId: string,
  query: RecordQuery,
  bounds: Bounds = usualBounds,
): Promise<RecordPage> {
  const { status, limit } = query;
  if (status === undefined) {
    const versions = sql`${currentWithin(workspaceId, query)} order by id desc limit ${limit + 1}`;
    return toPage(await readRecords(db, { versions, limit: limit + 1 }), limit);
  }
  // Almost all are finalized, so a page of them fills by itself. Of the others there are few, unless the chain is away.
  if (status !== 'finalized' && (await areFew(db, status, bounds.fewLeaves))) {
    const versions = sql`
      select r.* from (${leavesWith(status)}) as few
      join lateral (
        ${currentWithin(workspaceId, query)} and id = few.subject_id and version = few.version limit 1
      ) as r on few.workspace_id = ${workspaceId} and few.kind = ${recordKind}`;
    return toPage(await readRecords(db, { versions, status, limit: limit + 1 }), limit);
  }
  return walk(db, workspaceId, { ...query, ...bounds, status });
}

/** Goes through the records from the newest on, and looks at the status of each. */
async function walk(
  db: Db,
  workspaceId: string,
  query: RecordQuery & Bounds & { status: AnchorStatus },
): Promise<RecordPage> {
  const { status, limit, walkLength, walksPerPage } = query;
  const items: RecordVersion[] = [];
  let next = query.before ?? null;
  for (let walks = 0; walks < walksPerPage; walks += 1) {
    const ahead = currentWithin(workspaceId, { ...query, before: next ?? undefined });
    // Found out first: what is created meanwhile comes before it, and is walked as well.
    const { rows } = await sql<{ id: string }>`
      select id from (${ahead}) as r order by id desc offset ${walkLength - 1} limit 1`.execute(db);
    const last = rows[0]?.id ?? null;
    const versions = last === null ? ahead : sql`${ahead} and id >= ${last}`;
    const wanted = limit + 1 - items.length;
    items.push(...(await readRecords(db, { versions, status, limit: wanted })));
    next = last;
    if (items.length > limit || last === null) break;
  }
  return items.length > limit ? toPage(items, limit) : { items, next };
}

function toPage(rows: RecordVersion[], limit: number): RecordPage {
  const items = rows.slice(0, limit);
  return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

/** A select without an order, to which conditions may be added. */
function currentWithin(workspaceId: string, query: Omit<RecordQuery, 'limit'>): RawBuilder<unknown> {
  const { vaultId, externalId, from, to, before } = query;
  const conditions = [sql`workspace_id = ${workspaceId}`, sql`current`];
  if (vaultId !== undefined) conditions.push(sql`vault_id = ${vaultId}`);
  if (externalId !== undefined) conditions.push(sql`external_id = ${externalId}`);
  // Ids sort by the time they were made, so the index that orders the list also finds its days.
  if (from !== undefined) conditions.push(sql`id >= ${idBound('rec', from)}`);
  if (to !== undefined) conditions.push(sql`id < ${idBound('rec', to)}`);
  if (before !== undefined) conditions.push(sql`id < ${before}`);
  return sql`select * from records where ${sql.join(conditions, sql` and `)}`;
}

/** Of all workspaces: how much has this status depends on the chain, not on whose it is. */
function leavesWith(status: AnchorStatus): RawBuilder<unknown> {
  return status === 'pending'
    ? sql`select workspace_id, kind, subject_id, version from anchor_leaves where batch_id is null`
    : sql`
        select l.workspace_id, l.kind, l.subject_id, l.version
        from anchor_batches b join anchor_leaves l on l.batch_id = b.id
        where b.status <> 'finalized' and b.status = any(${batchStatuses(status)})`;
}

async function areFew(db: Db, status: AnchorStatus, fewLeaves: number): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (${leavesWith(status)} limit ${fewLeaves + 1}) as found`.execute(db);
  return Number(rows[0]?.count) <= fewLeaves;
}
