/** The record of applied migrations, and whether this version may run on a schema that has newer ones. */
import type pg from 'pg';
import { OperatorError } from '../../runtime/errors.ts';

export interface Applied {
  name: string;
  /** The oldest migration that a version must know to run on a schema with this one; null: it must know this one. */
  compatibleSince: string | null;
}

/** In the order in which they were applied; empty in an empty database. */
export async function readApplied(client: pg.ClientBase): Promise<Applied[]> {
  const { rows: found } = await client.query("select to_regclass('schema_migrations') is not null as found");
  if (!found[0]?.found) return [];
  // Through JSON, because a table made by an older version lacks the column.
  const { rows } = await client.query<Applied>(
    `select name, to_jsonb(m) ->> 'compatible_since' as "compatibleSince" from schema_migrations m order by id`,
  );
  return rows;
}

export async function prepareRecord(client: pg.ClientBase): Promise<void> {
  await client.query(`create table if not exists schema_migrations (
    id serial primary key, name varchar(255) not null, run_on timestamp not null
  )`);
  const { rows } = await client.query(
    `select 1 from pg_attribute where attrelid = 'schema_migrations'::regclass and attname = 'compatible_since'`,
  );
  if (rows.length === 0) await client.query('alter table schema_migrations add compatible_since text');
}

export async function recordApplied(client: pg.ClientBase, applied: Applied): Promise<void> {
  await client.query(
    'insert into schema_migrations (name, run_on, compatible_since) values ($1, now(), $2)',
    [applied.name, applied.compatibleSince],
  );
}

/**
 * Returns the applied migrations that this version does not know but may run with, and throws when there are others: an older
 * version must not work on a schema whose rules it does not know.
 */
export function judgeNewer(applied: readonly Applied[], known: readonly string[]): string[] {
  const newer = applied.filter(({ name }) => !known.includes(name));
  if (newer.length === 0) {
    refuseGap(applied, known);
    return [];
  }
  const names = newer.map(({ name }) => name).join(', ');
  const unfit = newer.filter(({ compatibleSince }) => !known.includes(compatibleSince ?? ''));
  const missing = known.filter((name) => !applied.some((one) => one.name === name));
  if (unfit.length === 0 && missing.length === 0) return newer.map(({ name }) => name);
  const reason =
    unfit.length > 0
      ? `${unfit.map(({ name }) => name).join(', ')} changed what this version relies on`
      : `it lacks ${missing.join(', ')}`;
  throw new OperatorError(
    `The database was migrated by a newer Holdfast (it has ${names}, which this version does not know), and this version cannot run on it: ${reason}. Start that version or a newer one, or restore a backup that this version can read. Nothing was changed.`,
  );
}

/** Migrations build on each other. */
function refuseGap(applied: readonly Applied[], known: readonly string[]): void {
  const place = known.findIndex((name, index) => index < applied.length && applied[index]?.name !== name);
  if (place < 0) return;
  throw new OperatorError(
    `The database lacks the migration ${known[place]}, but has later ones, so it was not migrated by a release of Holdfast. Restore a backup into an empty database. Nothing was changed.`,
  );
}
