/**
 * Inserts that belong together, and the group commit: concurrent requests share one statement and one fsync. Each
 * request passes its rows for any tables; either all of its rows are committed, or none.
 */
import { createHash } from 'node:crypto';
import { CompiledQuery, type Insertable, type Kysely } from 'kysely';
import type { Pool } from 'pg';
import { type ElementType, encodeArray, joinArrays } from './arrays.ts';
import { columnTypes } from './column-types.ts';
import { gatherWrites } from './fault-lanes.ts';
import { isDeadlock, isStatementFault, violates } from './faults.ts';
import type { Tables } from './tables.ts';

export type Write = { [T in keyof Tables]: { table: T; row: Insertable<Tables[T]> } }[keyof Tables];

/**
 * Many rows of one table and one workspace, encoded as soon as they were made: the objects of a thousand rows would outlive
 * several collections of garbage while they wait, and be copied by each.
 */
export interface PackedRows {
  table: keyof Tables;
  workspaceId: string;
  count: number;
  columns: string[];
  /** One for each column. */
  arrays: Buffer[];
}

export type CommitTogether = (writes: Write[], packed?: PackedRows) => Promise<void>;

/** At least one row; all with the same columns, whose types are listed. */
export function packRows<T extends keyof Tables>(
  table: T,
  rows: (Insertable<Tables[T]> & { workspace_id: string })[],
): PackedRows {
  const [first] = rows;
  if (!first || !(table in columnTypes)) throw new Error(`no rows of ${table} that can be packed`);
  const columns = Object.keys(first);
  if (!rows.every((row) => hasColumns(row, columns) && row.workspace_id === first.workspace_id)) {
    throw new Error(`rows of ${table} that differ in their columns or workspaces`);
  }
  const arrays = encodeColumns({ table, columns, rows });
  return { table, workspaceId: first.workspace_id, count: rows.length, columns, arrays };
}

/** Inserts rows inside a transaction that also does other work. */
export async function insertAll(db: Kysely<Tables>, writes: Write[]): Promise<void> {
  if (writes.length === 0) return;
  const { text, values } = insertStatement(writes);
  await db.executeQuery(CompiledQuery.raw(text, values));
}

interface Commit {
  writes: Write[];
  packed: PackedRows | undefined;
}

/** Returns a function that commits its rows in one statement with all concurrent commits. */
export function createGroupCommit(pool: Pool): CommitTogether {
  const insert = createInsert(pool);
  const commit = gatherWrites<Commit, void>({
    // Two at a time: one is prepared or answered here while the other is in the database. More would make the groups that
    // form meanwhile smaller, which is dearer overall.
    maxInFlight: 2,
    maxItems: 500,
    // About two batches of a thousand things: a larger group gains nothing, and delays others.
    weight: { of: ({ writes, packed }) => writes.length + (packed?.count ?? 0), max: 4_000 },
    workspaceOf,
    isItemFault: isStatementFault,
    isSuspect: ({ writes }, error) => writes.some(({ row }) => isAnswerOf(row, error)),
    async run(groups) {
      await insert(groups);
      return groups.map(() => undefined);
    },
  });
  return (writes, packed) => commit({ writes, packed });
}

function createInsert(pool: Pool): (groups: Commit[]) => Promise<void> {
  const names = new Map<string, string>();
  return async (groups) => {
    const { text, values } = insertStatement(
      groups.flatMap(({ writes }) => writes),
      groups.flatMap(({ packed }) => packed ?? []),
    );
    let name = names.get(text);
    if (name === undefined) {
      name = `together-${createHash('sha256').update(text).digest('base64url').slice(0, 16)}`;
      names.set(text, name);
    }
    const insert = () => pool.query({ name, text, values });
    // The statement is the whole transaction, so it can be repeated unchanged.
    await insert().catch((error) => {
      if (!isDeadlock(error)) throw error;
      return insert();
    });
  };
}

/** The rows of one commit belong to one workspace, but for those that belong to none. */
function workspaceOf({ writes, packed }: Commit): string | undefined {
  if (packed) return packed.workspaceId;
  for (const { row } of writes) {
    if ('workspace_id' in row && typeof row.workspace_id === 'string') return row.workspace_id;
  }
  return undefined;
}

/** Whether it is the row of a used Idempotency-Key that the error is about. */
function isAnswerOf(row: object, error: unknown): boolean {
  if (!('slot' in row) || !violates(error, 'idempotent_answers_pkey')) return false;
  const { detail = '' } = error as { detail?: string };
  return detail.includes((row.slot as Buffer).toString('hex'));
}

/**
 * One statement with one insert per table and set of columns. Foreign keys are checked when the whole statement is done,
 * so the order of the tables does not matter; the rows of one table are inserted in the order they come, but for workers.
 */
function insertStatement(
  writes: Write[],
  packed: PackedRows[] = [],
): { text: string; values: (string | Buffer)[] } {
  const inserts: Insert[] = [];
  for (const { table, row } of writes) {
    const insert = inserts.find((one) => one.table === table && hasColumns(row, one.columns));
    if (insert) insert.rows.push(row);
    else inserts.push({ table, columns: Object.keys(row), rows: [row], packed: [] });
  }
  for (const { table, columns, arrays } of packed) {
    const insert = inserts.find((one) => one.table === table && isSame(columns, one.columns));
    if (insert) insert.packed.push(arrays);
    else inserts.push({ table, columns, rows: [], packed: [arrays] });
  }
  for (const { table, rows } of inserts) if (table === 'workers') rows.sort(byAddress);
  const values: (string | Buffer)[] = [];
  // Sorted, so that groups with the same shapes in a different order share a prepared statement.
  const parts = inserts.sort(byShape).map((insert, position) => {
    const names = insert.columns.join(', ');
    return `w${position} as (insert into ${insert.table} (${names}) select ${names} from ${rowsOf(insert, values)})`;
  });
  return { text: `with ${parts.join(', ')} select 1`, values };
}

/** So that two statements with the same addresses, which must be unique, wait for each other in one direction only. */
function byAddress(one: object, other: object): number {
  const [a, b] = [one, other].map((row) => (row as { address: string }).address.toLowerCase()) as [
    string,
    string,
  ];
  return a < b ? -1 : a > b ? 1 : 0;
}

interface Insert {
  table: keyof Tables;
  columns: string[];
  rows: object[];
  /** One array per column, each. */
  packed: Buffer[][];
}

function isSame(some: string[], others: string[]): boolean {
  return some.length === others.length && some.every((one, place) => one === others[place]);
}

/** Whether the row has exactly these columns, in this order. Without a list of its own for every row. */
function hasColumns(row: object, columns: string[]): boolean {
  let place = 0;
  for (const column in row) {
    if (column !== columns[place]) return false;
    place += 1;
  }
  return place === columns.length;
}

function byShape(one: Insert, other: Insert): number {
  const [a, b] = [`${one.table} ${one.columns}`, `${other.table} ${other.columns}`];
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Sends one array per column where the types are known: for three rows per request this took half the time of JSON,
 * here and in PostgreSQL.
 */
function rowsOf({ table, columns, rows, packed }: Insert, values: (string | Buffer)[]): string {
  const types = columnTypes[table] as Record<string, ElementType> | undefined;
  if (!types) {
    values.push(JSON.stringify(rows.map(withBytesAsText)));
    return `json_populate_recordset(null::${table}, $${values.length})`;
  }
  const parts = rows.length > 0 ? [encodeColumns({ table, columns, rows }), ...packed] : packed;
  const arrays = columns.map((column, place) => {
    values.push(joinArrays(parts.map((part) => part[place] as Buffer)));
    return `$${values.length}::${types[column]}[]`;
  });
  return `unnest(${arrays.join(', ')}) as r (${columns.join(', ')})`;
}

/** Of a table whose types are known. */
function encodeColumns({ table, columns, rows }: Omit<Insert, 'packed'>): Buffer[] {
  const types = columnTypes[table] as Record<string, ElementType>;
  return columns.map((column) =>
    encodeArray(
      types[column] as ElementType,
      rows.map((row) => (row as Record<string, unknown>)[column]),
    ),
  );
}

/** Bytes are sent in PostgreSQL's hex form. (A replacer for JSON.stringify took four times as long.) */
function withBytesAsText(row: object): object {
  const text: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) {
    text[column] = Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value;
  }
  return text;
}
