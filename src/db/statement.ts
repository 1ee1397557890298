/** Statements that run often, on whatever connection their transaction is. */
import { CompiledQuery } from 'kysely';
import type { ClientBase, QueryResultRow } from 'pg';
import type { Db } from './database.ts';

export interface Statement {
  /** A connection of the pool prepares it once under this name, which saves most of what a short statement takes. */
  name: string;
  text: string;
  values: unknown[];
}

export type RunStatement = <Row extends QueryResultRow>(statement: Statement) => Promise<Row[]>;

export function runOnClient(client: ClientBase): RunStatement {
  return async <Row extends QueryResultRow>(statement: Statement) =>
    (await client.query<Row>(statement)).rows;
}

/** Not prepared: for callers whose transaction is one of Kysely. */
export function runOnDb(db: Db): RunStatement {
  return async <Row extends QueryResultRow>({ text, values }: Statement) =>
    (await db.executeQuery<Row>(CompiledQuery.raw(text, values))).rows;
}
