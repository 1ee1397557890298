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
      select: (before) => currentWithin(workspaceId, { ...query, before }),
      read: (db, { select, ...rest }) => readRecords(db, { versions: select, ...rest }),
    },
    bounds,
  );
}

/** A select without an order, to which conditions may be added. */
function currentWithin(workspaceId: string, query: Omit<RecordQuery, 'limit'>): RawBuilder<unknown> {
  const { vaultId, externalId, from, to, before } = query;
  const conditions = [sql`workspace_id = ${workspaceId}`, sql`current`];
  if (vaultId !== undefined) conditions.push(sql`vault_id = ${vaultId}`);
  if (externalId !== undefined) conditions.push(sql`external_id = ${externalId}`);
  // Ids sort by creation time, so the index that orders the list also serves the time filter.
  if (from !== undefined) conditions.push(sql`id >= ${idBound('rec', from)}`);
  if (to !== undefined) conditions.push(sql`id < ${idBound('rec', to)}`);
  if (before !== undefined) conditions.push(sql`id < ${before}`);
  return sql`select * from records where ${sql.join(conditions, sql` and `)}`;
}
