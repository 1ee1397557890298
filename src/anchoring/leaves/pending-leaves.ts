/** Pending leaves, for those who count or list them: new ones, those that wait, and those that are still to be looked through. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { joinPlace } from './leaf-places.ts';
import { readPosition } from './leaf-position.ts';

export interface PendingLeaves {
  /** A select of rows of `anchor_leaves`. */
  select: RawBuilder<unknown>;
  /** False while all leaves are looked through for pending ones: only the next ones of them are in the select then. */
  isWhole: boolean;
}

/**
 * About the oldest, at most three times as many as given. A batch that is made between the two statements makes no
 * difference: the position only says where pending leaves can be.
 */
export async function pendingLeaves(db: Db, most: number): Promise<PendingLeaves> {
  const { seen, walk } = await readPosition(db);
  const open = sql`${[...seen.open]}::bigint[]`;
  const isNew = sql`(written_in = any (${open}) or written_in >= ${seen.next})`;
  const parts = [
    sql`(select * from anchor_leaves where written_in = any (${open}) limit ${most})`,
    sql`(select * from anchor_leaves where written_in >= ${seen.next} order by written_in limit ${most})`,
    sql`(select l.* from anchor_waiting w
         cross join lateral (select * from anchor_leaves where id = w.leaf_id and not ${isNew} limit 1) as l
         order by w.leaf_id limit ${most})`,
  ];
  if (walk !== null) {
    parts.push(sql`(
      select * from (select * from anchor_leaves where id > ${walk.after} and id <= ${walk.end} order by id limit ${most}) as behind
      where not ${isNew} and not exists (select from anchor_waiting where leaf_id = behind.id))`);
  }
  const select = sql`
    select l.* from (${sql.join(parts, sql` union all `)}) as l ${sql.raw(joinPlace)}
    where placed.batch_id is null`;
  return { select, isWhole: walk === null };
}
