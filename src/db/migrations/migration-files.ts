/** The migrations of this version: plain SQL files, and what their first comments say about how they are applied. */
import { readdir, readFile } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { fileURLToPath } from 'node:url';

const migrationsDir = fileURLToPath(new URL('../../../migrations', import.meta.url));

export interface Migration {
  name: string;
  sql: string;
  /**
   * From `-- compatible since: NAME`: every version that knows the migration of this name may run on the schema, too. Null when
   * no earlier version may.
   */
  compatibleSince: string | null;
  /** From `-- transaction: none`: the statements run one by one, and may all run again after a kill. */
  statements: string[] | null;
}

/** The names of all migrations of this version, in order. */
export async function knownMigrations(dir = migrationsDir): Promise<string[]> {
  const files = await readdir(dir);
  return files
    .filter((file) => file.endsWith('.sql'))
    .map((file) => parse(file).name)
    .sort();
}

export async function readMigration(name: string, dir = migrationsDir): Promise<Migration> {
  const sql = await readFile(join(dir, `${name}.sql`), 'utf8');
  const transaction = directive(sql, 'transaction');
  if (transaction !== null && transaction !== 'none') {
    throw new Error(`${name}: "transaction" can only be "none", not ${JSON.stringify(transaction)}`);
  }
  return {
    name,
    sql,
    compatibleSince: directive(sql, 'compatible since'),
    statements: transaction === 'none' ? split(name, sql) : null,
  };
}

function directive(sql: string, word: string): string | null {
  return new RegExp(`^-- ${word}: *(.*?) *$`, 'm').exec(sql)?.[1] ?? null;
}

/** At each semicolon at the end of a line. */
function split(name: string, sql: string): string[] {
  if (sql.includes('$$')) {
    throw new Error(`${name}: a function or a block belongs in a migration of its own, with a transaction`);
  }
  return sql
    .replace(/^\s*--.*$/gm, '')
    .split(/;[ \t]*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter(Boolean);
}
