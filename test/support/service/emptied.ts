/**
 * Takes a test database back to the state of the template: a third of what a new copy and its removal cost. Only rows are
 * taken back. A database whose schema, settings or statistics have changed, or that has grown, is not.
 */
import type pg from 'pg';

/** A copy has some 14 MB, nearly all of it empty indexes and the catalogue. */
const largestGrowthBytes = 8 * 1024 * 1024;

/** The template, as it is found in a copy that is as new. */
export interface Original {
  catalogue: string;
  bytes: number;
  /** Rows that migrations made, as JSON. */
  rows: { table: string; columns: string; json: string }[];
  /** A statement that sets all sequences. */
  counters: string;
}

/** Whether the database is as new. Nobody else may be connected to it. */
export async function emptyDatabase(client: pg.Client, original: Original): Promise<boolean> {
  await client.query(dropDays);
  if ((await catalogueOf(client)) !== original.catalogue) return false;
  if ((await bytesOf(client)) > original.bytes + largestGrowthBytes) return false;
  await client.query('begin');
  // Without triggers and foreign keys: some tables refuse changes, and the order does not matter.
  await client.query('set local session_replication_role = replica');
  await client.query(deleteRows);
  for (const { table, columns, json } of original.rows)
    await client.query(
      `insert into ${table} (${columns}) overriding system value
       select ${columns} from json_populate_recordset(null::${table}, $1)`,
      [json],
    );
  await client.query(original.counters);
  await client.query('commit');
  return true;
}

export async function readOriginal(client: pg.Client): Promise<Original> {
  const { rows: tables } = await client.query<{ table: string; columns: string }>(
    `select c.oid::regclass::text as table, string_agg(quote_ident(attname), ', ' order by attnum) as columns
     from pg_class c join pg_attribute a on attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''
     where relkind = 'r' and relnamespace = 'public'::regnamespace and pg_relation_size(c.oid) > 0
     group by c.oid`,
  );
  const rows: Original['rows'] = [];
  for (const { table, columns } of tables) {
    const found = await client.query<{ json: string | null }>(
      `select json_agg(t)::text as json from only ${table} t`,
    );
    const json = found.rows[0]?.json;
    if (json) rows.push({ table, columns, json });
  }
  const { rows: sequences } = await client.query<{ set: string }>(
    `select format('setval(%L, %s, %L)', format('%I.%I', schemaname, sequencename), coalesce(last_value, start_value),
       last_value is not null) as set from pg_sequences`,
  );
  const counters = `select ${sequences.map(({ set }) => set).join(', ')}`;
  return { catalogue: await catalogueOf(client), bytes: await bytesOf(client), rows, counters };
}

/** Each service makes the partitions of the next days. */
const dropDays = `
  do $$
  declare day regclass;
  begin
    for day in select inhrelid from pg_inherits join pg_class on oid = inhrelid where relname ~ '_[0-9]{8}$' and relkind = 'r'
    loop execute 'drop table ' || day;
    end loop;
  end $$`;

/** A table that had rows takes up space. */
const deleteRows = `
  do $$
  declare filled regclass;
  begin
    for filled in
      select oid from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace and pg_relation_size(oid) > 0
    loop execute 'delete from only ' || filled;
    end loop;
  end $$`;

/** Differs after any change of the schema, and after `analyze`: each row of the catalogue has the transaction that wrote it. */
async function catalogueOf(client: pg.Client): Promise<string> {
  const catalogues = [
    'class',
    'attribute',
    'attrdef',
    'constraint',
    'trigger',
    'proc',
    'index',
    'type',
    'statistic',
    'namespace',
  ];
  const sums = catalogues.map(
    (name) => `(select row(count(*), sum(xmin::text::bigint))::text from pg_${name})`,
  );
  const { rows } = await client.query<{ text: string }>(
    `select concat_ws(' ', ${sums.join(', ')}, (select count(*) from pg_db_role_setting)) as text`,
  );
  return rows[0]?.text ?? '';
}

async function bytesOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query('select pg_database_size(current_database())::float8 as bytes');
  return rows[0].bytes;
}
