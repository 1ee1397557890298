/** Walks a table by its key, in pages of one statement each: no transaction stays open for long. */
import { type RawBuilder, sql } from 'kysely';
import type { Finding, Look, Pass, Range } from '../runtime/check.ts';
import type { Db, SessionSettings } from './database.ts';
import type { Tables } from './tables.ts';
import type { Stretch, Written, WrittenKeys, WrittenStretches } from './written-since.ts';

export interface RowsPassOptions<Row> {
  db: Db;
  /** What the rows are, in the plural. */
  what: string;
  table: keyof Tables;
  /** The key's columns as named in the statement, with the row members that hold their values. */
  key: { column: string; member: keyof Row & string }[];
  pageRows?: number;
  /** How the rows written since a time are found, all ways together; absent: they cannot be. */
  written?: Written[];
  /** The statement: all its rows satisfy `page.where`, and it ends with `page.end`. */
  read(page: KeyPage): RawBuilder<Row>;
  judge(rows: Row[]): Finding[] | Promise<Finding[]>;
}

/** For what is late: a restored database is as it was then, and no service has gone on with it since. Absent: now. */
export type AsOf = Date | undefined;

export function timeOf(asOf: AsOf): RawBuilder<Date> {
  return asOf === undefined ? sql`now()` : sql`${asOf}::timestamptz`;
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
export const walkSettings: SessionSettings = { enable_sort: 'off' };

const usualPageRows = 1_000;
/** Counting more rows than this takes long; PostgreSQL's own estimate is good enough then. */
const countedUpTo = 1_000_000;

export function rowsPass<Row>(options: RowsPassOptions<Row>): Pass {
  const { db, what, table, key, pageRows = usualPageRows } = options;
  const columns = sql.join(key.map(({ column }) => sql.ref(column)));
  const valuesOf = (row: Row) => key.map(({ member }) => row[member]);

  function pageOf({ after, until }: Range, within: RawBuilder<unknown>[] = []): KeyPage {
    const bounds = [
      ...within,
      ...(after === undefined ? [] : [sql`(${columns}) > (${sql.join(after as unknown[])})`]),
      ...(until === undefined ? [] : [sql`(${columns}) <= (${sql.join(until as unknown[])})`]),
    ];
    return {
      where: bounds.length === 0 ? sql`true` : sql.join(bounds, sql` and `),
      end: until === undefined ? sql`order by ${columns} limit ${pageRows}` : sql`order by ${columns}`,
    };
  }

  async function look(page: KeyPage): Promise<Look> {
    const { rows } = await options.read(page).execute(db);
    const last = rows.at(-1);
    return {
      rows: rows.length,
      last: last === undefined ? undefined : valuesOf(last),
      findings: rows.length === 0 ? [] : await options.judge(rows),
    };
  }

  /** Walks one stretch after the other; no page has rows of two. */
  function stretchesPass(written: WrittenStretches, time: Date): Pass {
    let stretches: Stretch[] = [];
    const isIn = ({ within }: Stretch, values: unknown[]) =>
      within.every((value, at) => same(value, values[at]));
    const lookIn = ({ within, from }: Stretch, range: Range) => {
      const columnAt = (at: number) => sql.ref(key[at]?.column ?? '');
      const bounds = within.map((value, at) => sql`${columnAt(at)} = ${value}`);
      return look(pageOf(range, [...bounds, sql`${columnAt(within.length)} >= ${from}`]));
    };
    return {
      what,
      async count() {
        stretches = await written.stretches(time);
        return 0;
      },
      async look(range) {
        const at = range.until ?? range.after;
        const first = at === undefined ? 0 : stretches.findIndex((stretch) => isIn(stretch, at as unknown[]));
        for (const stretch of first === -1 ? [] : stretches.slice(first)) {
          const found = await lookIn(stretch, range);
          if (found.rows > 0 || range.until !== undefined) return found;
        }
        return { rows: 0, last: undefined, findings: [] };
      },
    };
  }

  /** Reads the rows whose keys another table names, in the order of that table. */
  function keysPass(written: WrittenKeys, time: Date): Pass {
    return {
      what,
      count: async () => 0,
      async look(range) {
        const { keys, last } = await written.keys(time, range, pageRows);
        if (keys.length === 0) return { rows: 0, last, findings: [] };
        const lists = key.map((_, at) => listOf(keys.map((values) => values[at])));
        const named = sql<boolean>`(${columns}) in (select * from unnest(${sql.join(lists)}))`;
        return { ...(await look({ where: named, end: sql`` })), last };
      },
    };
  }

  const { written } = options;
  return {
    what,
    count: () => countRows(db, table),
    look: (range) => look(pageOf(range)),
    ...(written && {
      since: (time: Date) =>
        written.map((one) => ('stretches' in one ? stretchesPass(one, time) : keysPass(one, time))),
    }),
  };
}

function same(one: unknown, other: unknown): boolean {
  return Buffer.isBuffer(one) && Buffer.isBuffer(other) ? one.equals(other) : one === other;
}

function listOf(values: unknown[]): RawBuilder<unknown> {
  return typeof values[0] === 'number' ? sql`${values}::bigint[]` : sql`${values}::text[]`;
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
