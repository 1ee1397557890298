/** Finds the versions of anchored things that were written since a time, by their leaves. */
import { sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { firstNumber, type WrittenKeys, withSlack } from '../../db/written-since.ts';
import type { Kind } from '../../proof/kinds.ts';
import { type IdPrefix, idBound } from '../../runtime/ids.ts';

export interface LeafKeys {
  /** Whether the key ends with the version; if not, it is that of the subject alone. */
  version?: boolean;
  /** Leaves out subjects with an id of this kind that was made since then: others find them by their ids. */
  olderThan?: IdPrefix;
}

export function writtenLeaves(
  db: Db,
  kinds: Kind[],
  { version = true, olderThan }: LeafKeys = {},
): WrittenKeys {
  let start: number | undefined;
  return {
    async keys(since, { after, until }, limit) {
      start ??= await firstNumber(db, { table: 'anchor_leaves' }, since);
      const { rows } = await sql<{ last: number | null; keys: unknown[][] | null }>`
        select max(id) as last,
          json_agg(case when ${version} then json_build_array(workspace_id, subject_id, version)
                   else json_build_array(workspace_id, subject_id) end)
            filter (where kind = any (${kinds}::text[])
              and (${olderThan === undefined} or subject_id < ${olderThan ? idBound(olderThan, withSlack(since)) : ''})) as keys
        from (
          select id, workspace_id, kind, subject_id, version from anchor_leaves
          where id > ${after ?? start - 1} and (${until === undefined} or id <= ${until ?? 0}) order by id
          limit ${until === undefined ? limit : null}
        ) as page`.execute(db);
      return { keys: rows[0]?.keys ?? [], last: rows[0]?.last ?? undefined };
    },
  };
}
