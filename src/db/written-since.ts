/** Finds the rows of a table that were written since a time, by what grows with time in its key: ids, or numbers. */
import { type RawBuilder, sql } from 'kysely';
import type { Range } from '../runtime/check.ts';
import { type IdPrefix, idBound } from '../runtime/ids.ts';
import type { Db } from './database.ts';
import type { Tables } from './tables.ts';

export type Written = WrittenStretches | WrittenKeys;

/** Rows that follow each other in the order of the key. */
export interface WrittenStretches {
  stretches(since: Date): Promise<Stretch[]>;
}

export interface Stretch {
  /** The values of the first columns of the key, which all its rows have. */
  within: unknown[];
  /** The least value of the next column. */
  from: unknown;
}

/** Keys from another table, page by page in an order of its own. */
export interface WrittenKeys {
  keys(since: Date, range: Range, limit: number): Promise<{ keys: unknown[][]; last: unknown }>;
}

/** The clocks of nodes differ, and a transaction takes its time: a check begins this much earlier than asked. */
export const slackMs = 10 * 60 * 1000;

export function withSlack(since: Date): Date {
  return new Date(Math.max(0, since.getTime() - slackMs));
}

/** For a key that begins with the workspace and an id. */
export function writtenIds(db: Db, table: keyof Tables, prefix: IdPrefix, id = 'id'): Written {
  return writtenIn(
    db,
    table,
    (since) => sql`
      select t.${sql.ref(id)} from ${sql.table(table)} t
      where t.workspace_id = g.value and t.${sql.ref(id)} >= ${idBound(prefix, since)}
      order by t.${sql.ref(id)} limit 1`,
  );
}

/**
 * For a key with two columns: `start` selects the least value of the second one for the value `g.value` of the first. The
 * values of the first are read from the index, one step each.
 */
export function writtenIn(
  db: Db,
  table: keyof Tables,
  start: (since: Date) => RawBuilder<unknown> | Promise<RawBuilder<unknown>>,
  group = 'workspace_id',
): Written {
  const column = sql.ref(group);
  return {
    async stretches(since) {
      const { rows } = await sql<{ value: unknown; start: unknown }>`
        with recursive g as (
          (select ${column} as value from ${sql.table(table)} order by ${column} limit 1)
          union all
          select (
            select t.${column} from ${sql.table(table)} t where t.${column} > g.value order by t.${column} limit 1
          ) from g where g.value is not null
        )
        select g.value, (${await start(withSlack(since))}) as start from g where g.value is not null`.execute(
        db,
      );
      return rows.flatMap(({ value, start }) => (start === null ? [] : [{ within: [value], from: start }]));
    },
  };
}

/** For a key that is one number, given in the order of time. */
export function writtenNumbers(db: Db, numbers: Numbers): Written {
  return {
    stretches: async (since) => [{ within: [], from: await firstNumber(db, numbers, since) }],
  };
}

export interface Numbers {
  table: keyof Tables;
  column?: string;
  /** When the row was written. */
  time?: RawBuilder<unknown>;
}

/** So many rows decide together, so that a single one with a wrong time misleads nobody. */
const asked = 3;

/**
 * The least number whose row is not older, or the one before it, in steps that halve the rest; one more than the last if all
 * rows are older.
 */
export async function firstNumber(db: Db, numbers: Numbers, since: Date): Promise<number> {
  const { table, column = 'id', time = sql.ref('created_at') } = numbers;
  const number = sql.ref(column);
  const earliest = withSlack(since);
  const bounds = await sql<{ low: number | null; high: number | null }>`
    select (select ${number} from ${sql.table(table)} order by ${number} limit 1) as low,
           (select ${number} from ${sql.table(table)} order by ${number} desc limit 1) as high`.execute(db);
  let low = bounds.rows[0]?.low ?? 0;
  let high = (bounds.rows[0]?.high ?? -1) + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const { rows: found } = await sql<{ number: number | null; late: boolean | null }>`
      select min(number) as number, 2 * count(*) filter (where late) >= count(*) as late from (
        select ${number} as number, ${time} >= ${earliest} as late from ${sql.table(table)}
        where ${number} >= ${middle} order by ${number} limit ${asked}
      ) as asked`.execute(db);
    const [row] = found;
    if (!row || row.number === null || row.late) high = middle;
    else low = row.number + 1;
  }
  return low;
}
