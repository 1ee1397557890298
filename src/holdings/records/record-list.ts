/** Lists records, newest first: each at its newest version, with any filter and a bounded amount of work per page. */
import { type RawBuilder, sql } from 'kysely';
import { type AnchoredPage, type Bounds, listAnchored } from '../../anchoring/anchored-list.ts';
import type { Db } from '../../db/database.ts';
import type { AnchorStatus } from '../../proof/anchor-status.ts';
import { idBound } from '../../runtime/ids.ts';
import { type RecordVersion, readRecords } from './records.store.ts';

export interface RecordQuery {
  vaultId?: string | undefined;
  externalId?: string | undefined;
  status?: AnchorStatus | undefined;
  /** When the record, that is, its first version, was created: `from` is inclusive, `to` is exclusive. */
  from?: Date | undefined;
  to?: Date | undefined;
  /** The page begins after this id. */
  before?: string | undefined;
  limit: number;
}

export type RecordPage = AnchoredPage<RecordVersion>;

export function listRecords(
  db: Db,
  workspaceId: string,
  query: RecordQuery,
  bounds?: Bounds,
): Promise<RecordPage> {
  const { status, before, limit } = query;
  return listAnchored(
    db,
    {
      workspaceId,
      kind: 'record',
      status,
      before,
      limit,
      select: (before) => newestWithin(workspaceId, { ...query, before }),
      read: (db, { select, ...rest }) => readRecords(db, { versions: select, ...rest }),
    },
    bounds,
  );
}

/**
 * A select without an order, to which conditions may be added. Goes through the first versions, each of which leads to the
 * newest one, whose vault and external id are the same.
 */
function newestWithin(workspaceId: string, query: Omit<RecordQuery, 'limit'>): RawBuilder<unknown> {
  const { vaultId, externalId, from, to, before } = query;
  // The bounds of all ids of records: the index has those of other things too.
  const conditions = [sql`workspace_id = ${workspaceId}`, sql`id > 'rec_'`, sql`id < 'rec_~'`];
  if (vaultId !== undefined) conditions.push(sql`vault_id = ${vaultId}`);
  if (externalId !== undefined) conditions.push(sql`external_id = ${externalId}`);
  // Ids sort by creation time, so the index that orders the list also serves the time filter.
  if (from !== undefined) conditions.push(sql`id >= ${idBound('rec', from)}`);
  if (to !== undefined) conditions.push(sql`id < ${idBound('rec', to)}`);
  if (before !== undefined) conditions.push(sql`id < ${before}`);
  return sql`
    select first.workspace_id, id, version, external_id, vault_id, data_hash, erased_at, created_at, leaf_id
    from (select workspace_id, id, external_id, vault_id from records where version = 1) as first
    cross join lateral (
      select version, data_hash, erased_at, created_at, leaf_id from records r
      where r.workspace_id = first.workspace_id and r.id = first.id order by version desc limit 1
    ) as newest
    where ${sql.join(conditions, sql` and `)}`;
}
