/** Copies all rows from one database to another with the same schema, table by table. */
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { columnList, listTables, quoted, readSequences } from './catalogue.ts';
import { prepareTables, setSequences } from './load.ts';

export interface Copying {
  source: pg.ClientBase;
  /** Has the tables, and nothing in them that is kept. */
  target: pg.ClientBase;
  onProgress(progress: { done: number; total: number }): void;
}

/** Returns the number of rows. All of them are there after the commit, or none. */
export async function copyTables({ source, target, onProgress }: Copying): Promise<number> {
  await source.query('begin isolation level repeatable read read only');
  await target.query('begin');
  for (const client of [source, target]) {
    // The text of a row depends on these.
    await client.query(`
      set local timezone = 'UTC'; set local datestyle = 'ISO'; set local intervalstyle = 'postgres';
      set local bytea_output = 'hex'; set local extra_float_digits = 1`);
  }
  const tables = await listTables(source);
  const total = tables.reduce((sum, { aboutRows }) => sum + aboutRows, 0);
  const putBack = await prepareTables(target, tables);
  let done = 0;
  for (const { name, columns } of tables) {
    const from = source.query(copyTo(`copy (select ${columnList(columns)} from ${quoted(name)}) to stdout`));
    const to = target.query(copyFrom(`copy ${quoted(name)} (${columnList(columns)}) from stdin`));
    await pipeline(from, to);
    if (from.rowCount !== to.rowCount)
      throw new Error(`${name}: ${from.rowCount} rows became ${to.rowCount}`);
    done += to.rowCount ?? 0;
    onProgress({ done, total: Math.max(total, done) });
  }
  await setSequences(target, await readSequences(source));
  for (const statement of putBack) await target.query(statement);
  await target.query('commit');
  await source.query('commit');
  await target.query('analyze');
  return done;
}
