/**
 * Inserts that belong together, and the group commit: concurrent requests share one statement and one fsync.
 * Each request hands in its rows for any tables; all of its rows are committed, or none.
 */
import { createHash } from 'node:crypto';
import { CompiledQuery, type Insertable, type Kysely } from 'kysely';
import type { Pool } from 'pg';
import { isStatementFault } from './faults.ts';
import { gather } from './gather.ts';
import type { Tables } from './tables.ts';

/** One row for one table. */
export type Write = { [T in keyof Tables]: { table: T; row: Insertable<Tables[T]> } }[keyof Tables];

export type CommitTogether = (writes: Write[]) => Promise<void>;

/** Inserts rows inside a transaction that does other things too. */
export async function insertAll(db: Kysely<Tables>, writes: Write[]): Promise<void> {
  if (writes.length === 0) return;
  const { text, values } = insertStatement(writes);
  await db.executeQuery(CompiledQuery.raw(text, values));
}

/** A function that commits its rows in the same statement as whoever else commits at that moment. */
export function createGroupCommit(pool: Pool): CommitTogether {
  const names = new Map<string, string>();

  // One statement at a time: the groups that form meanwhile are larger, and the whole is cheaper.
  return gather<Write[], void>({
    maxInFlight: 1,
    maxItems: 500,
    isItemFault: isStatementFault,
    async run(groups) {
      const { text, values } = insertStatement(groups.flat());
      let name = names.get(text);
      if (name === undefined) {
        name = `together-${createHash('sha256').update(text).digest('base64url').slice(0, 16)}`;
        names.set(text, name);
      }
      await pool.query({ name, text, values });
      return groups.map(() => undefined);
    },
  });
}

/**
 * One statement with one insert per table and set of columns, rows passed as JSON. Foreign keys are checked when
 * the whole statement is done, so the order of the tables does not matter.
 */
function insertStatement(writes: Write[]): { text: string; values: string[] } {
  const inserts = new Map<string, { table: string; columns: string; rows: object[] }>();
  for (const { table, row } of writes) {
    const columns = Object.keys(row).join(', ');
    const shape = `${table} ${columns}`;
    const insert = inserts.get(shape) ?? { table, columns, rows: [] };
    insert.rows.push(row);
    inserts.set(shape, insert);
  }
  // Sorted, so that groups with the same shapes in another order share a prepared statement.
  const sorted = [...inserts.keys()]
    .sort()
    .map((shape) => inserts.get(shape) as NonNullable<ReturnType<typeof inserts.get>>);
  const parts = sorted.map(
    ({ table, columns }, position) =>
      `w${position} as (insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, $${position + 1}))`,
  );
  return {
    text: `with ${parts.join(', ')} select 1`,
    values: sorted.map(({ rows }) => JSON.stringify(rows.map(withBytesAsText))),
  };
}

/** Bytes travel as PostgreSQL's hex form. (A replacer for JSON.stringify took four times as long.) */
function withBytesAsText(row: object): object {
  const text: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) {
    text[column] = Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value;
  }
  return text;
}
