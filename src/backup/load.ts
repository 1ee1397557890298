/** Loads the tables of an archive into an empty database with the same schema: all of them, or none. */
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Member } from './archive-reader.ts';
import { columnList, listTables, quoted } from './catalogue.ts';
import { damaged, kindOf, type Manifest, type TableEntry } from './format.ts';
import { partitionBound } from './partition-bound.ts';
import { checkedPieces } from './verify-archive.ts';

export interface LoadOptions {
  manifest: Manifest;
  onProgress(progress: { done: number; total: number }): void;
  signal?: AbortSignal | undefined;
}

/**
 * `client` is inside a transaction. Rows arrive in the order of their tables' names: foreign keys are dropped before
 * and added again after, which checks them all, and triggers, which would create deliveries of old events, are disabled
 * meanwhile.
 */
export function createLoad(client: pg.ClientBase, { manifest, onProgress, signal }: LoadOptions) {
  const open = new Map(manifest.tables.map((table) => [table.name, table]));
  const total = manifest.tables.reduce((sum, { rows }) => sum + rows, 0);
  let done = 0;
  let putBack: string[] = [];
  return {
    async begin(): Promise<void> {
      await requireSameTables(client, manifest);
      putBack = await prepareTables(client, manifest.tables);
    },
    async load(member: Member): Promise<void> {
      const { name } = kindOf(member.name);
      const table = open.get(name);
      if (!table) throw damaged(`the table ${name} is out of place`);
      open.delete(name);
      await loadTable(client, table, withProgress(member.pieces, table));
    },
    async end(): Promise<void> {
      const [left] = open.keys();
      if (left !== undefined) throw damaged(`the table ${left} is out of place`);
      await setSequences(client, manifest.sequences);
      for (const statement of putBack) await client.query(statement);
    },
  };

  async function* withProgress(pieces: AsyncIterable<Buffer>, table: TableEntry): AsyncGenerator<Buffer> {
    const before = done;
    let bytes = 0;
    for await (const piece of checkedPieces(pieces, { name: `the table ${table.name}`, expected: table })) {
      signal?.throwIfAborted();
      bytes += piece.length;
      yield piece;
      onProgress({ done: before + Math.round((table.rows * bytes) / Math.max(table.bytes, 1)), total });
    }
    done = before + table.rows;
  }
}

/** Empties the tables and gives them their partitions; returns the statements that end the work. */
export async function prepareTables(
  client: pg.ClientBase,
  tables: Pick<TableEntry, 'name' | 'partitions'>[],
): Promise<string[]> {
  const putBack = [...(await takeOffReferences(client)), ...(await stillTriggers(client))];
  for (const { name, partitions } of tables) await makePartitions(client, name, partitions);
  // The source also has the rows that migrations insert.
  await client.query(`truncate ${tables.map(({ name }) => quoted(name)).join(', ')}`);
  return putBack;
}

export async function setSequences(client: pg.ClientBase, sequences: Manifest['sequences']): Promise<void> {
  for (const { name, value, called } of sequences) {
    await client.query('select setval($1::regclass, $2::bigint, $3)', [
      `public.${quoted(name)}`,
      value,
      called,
    ]);
  }
}

async function loadTable(
  client: pg.ClientBase,
  table: TableEntry,
  pieces: AsyncIterable<Buffer>,
): Promise<void> {
  const sink = client.query(copyFrom(`copy ${quoted(table.name)} (${columnList(table.columns)}) from stdin`));
  await pipeline(pieces, sink);
  if (sink.rowCount !== table.rows) {
    throw damaged(`the table ${table.name} took ${sink.rowCount} rows, not ${table.rows}`);
  }
}

/** The archive names its migrations, which must create exactly its tables. */
async function requireSameTables(client: pg.ClientBase, { tables }: Manifest): Promise<void> {
  const shapeOf = (all: { name: string; columns: string[] }[]) =>
    all.map(({ name, columns }) => `${name}(${columns.join()})`).sort();
  const here = shapeOf(await listTables(client));
  const there = shapeOf(tables);
  const differing = [...here, ...there].filter((shape) => !here.includes(shape) || !there.includes(shape));
  if (differing.length > 0)
    throw damaged(`its migrations do not result in its tables: ${differing.join(', ')}`);
}

/** Drops all foreign keys; returns the statements that add them again. */
async function takeOffReferences(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ place: string; name: string; definition: string }>(
    `select conrelid::regclass::text as place, conname as name, pg_get_constraintdef(oid) as definition
     from pg_constraint
     where contype = 'f' and connamespace = 'public'::regnamespace and conparentid = 0 order by 1, 2`,
  );
  for (const { place, name } of rows)
    await client.query(`alter table ${place} drop constraint ${quoted(name)}`);
  return rows.map(
    ({ place, name, definition }) => `alter table ${place} add constraint ${quoted(name)} ${definition}`,
  );
}

/** Disables the enabled triggers; returns the statements that enable them again. */
async function stillTriggers(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ place: string; name: string }>(
    `select t.tgrelid::regclass::text as place, t.tgname as name from pg_trigger t
     join pg_class c on c.oid = t.tgrelid
     where c.relnamespace = 'public'::regnamespace and not t.tgisinternal and t.tgparentid = 0 and t.tgenabled = 'O'`,
  );
  for (const { place, name } of rows)
    await client.query(`alter table ${place} disable trigger ${quoted(name)}`);
  return rows.map(({ place, name }) => `alter table ${place} enable trigger ${quoted(name)}`);
}

/** For example the days of a log: rows outside their partition would prevent its creation later. */
async function makePartitions(
  client: pg.ClientBase,
  table: string,
  partitions: TableEntry['partitions'],
): Promise<void> {
  for (const { name, bound, options } of partitions) {
    const { rows } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
      `public.${quoted(name)}`,
    ]);
    if (rows[0]?.exists) continue;
    const storage = options.length > 0 ? ` with (${options.join(', ')})` : '';
    await client.query(
      `create table ${quoted(name)} partition of ${quoted(table)} ${partitionBound(bound)}${storage}`,
    );
  }
}
