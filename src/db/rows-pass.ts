/** Walks a table by its key, in pages of one statement each: no transaction stays open for long. */
import { type RawBuilder, sql } from 'kysely';
import type { Finding, Pass, Range } from '../runtime/check.ts';
import type { Db, SessionSettings } from './database.ts';
import type { Tables } from './tables.ts';

export interface RowsPassOptions<Row> {
  db: Db;
  /** What the rows are, in the plural. */
  what: string;
  table: keyof Tables;
  /** The key's columns as named in the statement, with the row members that hold their values. */
  key: { column: string; member: keyof Row & string }[];
  pageRows?: number;
  /** The statement: all its rows satisfy `page.where`, and it ends with `page.end`. */
  read(page: KeyPage): RawBuilder<Row>;
  judge(rows: Row[]): Finding[] | Promise<Finding[]>;
}

export interface KeyPage {
  where: RawBuilder<boolean>;
  /** Order and limit. */
  end: RawBuilder<unknown>;
}

/**
 * For the connections of a walk: an index gives the order of each page. With a poor estimate PostgreSQL would sort the rest
 * of a partitioned table for every page, which took seventy times as long.
 */
export const walkSettings: SessionSettings = { enable_sort: 'off', jit: 'off' };

const usualPageRows = 1_000;
/** Counting more rows than this takes long; PostgreSQL's own estimate is good enough then. */
const countedUpTo = 1_000_000;

export function rowsPass<Row>(options: RowsPassOptions<Row>): Pass {
  const { db, what, table, key, pageRows = usualPageRows } = options;
  const columns = sql.join(key.map(({ column }) => sql.ref(column)));
  const valuesOf = (row: Row) => key.map(({ member }) => row[member]);

  function pageOf({ after, until }: Range): KeyPage {
    const bounds = [
      ...(after === undefined ? [] : [sql`(${columns}) > (${sql.join(after as unknown[])})`]),
      ...(until === undefined ? [] : [sql`(${columns}) <= (${sql.join(until as unknown[])})`]),
    ];
    return {
      where: bounds.length === 0 ? sql`true` : sql.join(bounds, sql` and `),
      end: until === undefined ? sql`order by ${columns} limit ${pageRows}` : sql`order by ${columns}`,
    };
  }

  return {
    what,
    count: () => countRows(db, table),
    async look(range) {
      const { rows } = await options.read(pageOf(range)).execute(db);
      const last = rows.at(-1);
      return {
        rows: rows.length,
        last: last === undefined ? undefined : valuesOf(last),
        findings: rows.length === 0 ? [] : await options.judge(rows),
      };
    },
  };
}

/** The number of rows of a table, all partitions together; for a large table, the estimate of its last analyze. */
export async function countRows(db: Db, table: keyof Tables): Promise<number> {
  const { rows } = await sql<{ rows: number }>`
    select coalesce(sum(c.reltuples) filter (where c.reltuples > 0), 0)::float8 as rows
    from pg_partition_tree(${table}::regclass) as p join pg_class c on c.oid = p.relid and p.isleaf`.execute(
    db,
  );
  const estimate = rows[0]?.rows ?? 0;
  if (estimate > countedUpTo) return Math.round(estimate);
  const counted = await sql<{ rows: number }>`
    select count(*) as rows from (select 1 from ${sql.table(table)} limit ${2 * countedUpTo}) as counted`.execute(
    db,
  );
  return counted.rows[0]?.rows ?? 0;
}
