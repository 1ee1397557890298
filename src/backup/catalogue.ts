/**
 * Lists the contents of the database from PostgreSQL's own catalogue, so that new tables are covered without a change
 * here.
 */
import type pg from 'pg';
import { restoreMark } from '../db/migrate.ts';
import { migrationsTable, type Partition } from './format.ts';

export interface CatalogueTable {
  name: string;
  /** The stored columns; PostgreSQL computes the others. */
  columns: string[];
  partitions: Partition[];
  /** As of the last analyze; used only for the progress display. */
  aboutRows: number;
}

export interface SequenceState {
  name: string;
  value: string;
  called: boolean;
}

/** Every table except the record of migrations and the restore mark; a partitioned table stands for its partitions. */
export async function listTables(client: pg.ClientBase): Promise<CatalogueTable[]> {
  const { rows } = await client.query<CatalogueTable>(
    `select t.relname as name,
       (select json_agg(a.attname order by a.attnum) from pg_attribute a
        where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
       coalesce((
         select json_agg(json_build_object(
           'name', p.relname, 'bound', pg_get_expr(p.relpartbound, p.oid), 'options', coalesce(to_json(p.reloptions), '[]')
         ) order by p.relname)
         from pg_inherits i join pg_class p on p.oid = i.inhrelid where i.inhparent = t.oid
       ), '[]') as partitions,
       greatest(t.reltuples, (
         select sum(greatest(p.reltuples, 0)) from pg_inherits i join pg_class p on p.oid = i.inhrelid
         where i.inhparent = t.oid
       ), 0)::float8 as "aboutRows"
     from pg_class t
     where t.relnamespace = 'public'::regnamespace and t.relkind in ('r', 'p') and not t.relispartition
       and t.relname <> all ($1)
     order by t.relname`,
    [[migrationsTable, restoreMark]],
  );
  return rows;
}

export async function listMigrations(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`select name from ${migrationsTable} order by id`);
  return rows.map(({ name }) => name);
}

/** Sequences are not part of a snapshot: their values are at least those that the snapshot has used. */
export async function readSequences(client: pg.ClientBase): Promise<SequenceState[]> {
  const { rows } = await client.query<{ name: string }>(
    `select s.relname as name from pg_class s
     where s.relnamespace = 'public'::regnamespace and s.relkind = 'S' and not exists (
       select 1 from pg_depend d where d.objid = s.oid and d.refobjid = '${migrationsTable}'::regclass
     ) order by s.relname`,
  );
  const states: SequenceState[] = [];
  for (const { name } of rows) {
    const { rows: found } = await client.query<{ value: string; called: boolean }>(
      `select last_value::text as value, is_called as called from public.${quoted(name)}`,
    );
    if (found[0]) states.push({ name, ...found[0] });
  }
  return states;
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function columnList(columns: readonly string[]): string {
  return columns.map(quoted).join(', ');
}
