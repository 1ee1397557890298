/** Open defects of an asset with very many entries that close others. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CompiledQuery } from 'kysely';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import type { Database, Db } from '../../db/database.ts';
import { findOpenDefects } from './open-defects.ts';

const workspaceId = 'ws_1';

let database: Database;
before(async () => {
  database = await openTestDatabase({ fresh: true });
  await addEntries('one', { open: 1 });
  await addEntries('many', { open: 40 });
  await database.pool.query('analyze maintenances');
});
after(() => database.close());

/** Adds defects that stay open, one that is closed last, and thousands of entries that close something else. */
async function addEntries(assetId: string, { open }: { open: number }): Promise<void> {
  await database.pool.query(
    `insert into maintenances (workspace_id, id, asset_id, vault_id, worker_id, worker_address, worker_name, type,
       summary, performed_at, entry, salt, hash, number)
     select $1, idOf, $2, 'vlt_1', 'wrk_1', '', '', type, '', now() - interval '1 day',
       json_build_object('data', data, 'note', repeat('n', 500))::text, sha256(''), sha256(''), n + 1
     from generate_series(0, 6001) as n
     cross join lateral (
       select 'mnt_' || $2::text || lpad(n::text, 6, '0') as idOf,
         case when n <= $3::integer then 'Defect' else 'repair' end as type,
         case when n <= $3 then '{"deferred":true}'
           when n = 6001 then '{"closes":"mnt_' || $2::text || '000000"}' else '{"closes":["mnt_other"]}' end::json as data
     ) as made`,
    [workspaceId, assetId, open],
  );
  await database.pool.query(
    `insert into signoffs (workspace_id, maintenance_id, number, role, worker_id, document, salt, hash)
     values ($1, 'mnt_' || $2::text || '006001', 1, 'certified', 'wrk_1', '{}', sha256(''), sha256(''))`,
    [workspaceId, assetId],
  );
}

interface PlanNode {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: PlanNode[];
}

/** All rows that the plan reads, including repeated reads. */
function rowsHandled(node: PlanNode): number {
  const each =
    node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  return each * node['Actual Loops'] + (node.Plans ?? []).reduce((sum, plan) => sum + rowsHandled(plan), 0);
}

/** The query plan of a query in `work`. */
async function planOf(work: (db: Db) => Promise<unknown>): Promise<PlanNode> {
  let plan: PlanNode | null = null;
  const executor = database.db.getExecutor();
  const explaining: typeof executor = Object.assign(Object.create(executor), {
    transformQuery: executor.transformQuery.bind(executor),
    compileQuery: executor.compileQuery.bind(executor),
    async executeQuery(query: CompiledQuery) {
      const explained = { ...query, sql: `explain (analyze, format json) ${query.sql}` };
      const { rows } = await executor.executeQuery<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explained);
      plan = rows[0]?.['QUERY PLAN'][0].Plan ?? null;
      return { rows: [] };
    },
  });
  await work({ getExecutor: () => explaining } as Db);
  return plan ?? assert.fail('no query was made');
}

test('reads the entries that close defects once, not once for each open defect', async () => {
  const look = async (assetId: string) => {
    const find = (db: Db) => findOpenDefects(db, { workspaceId, assetId }, new Date());
    const found = await find(database.db);
    assert.ok(found.every(({ maintenanceId }) => maintenanceId !== `mnt_${assetId}000000`));
    return { count: found.length, rows: rowsHandled(await planOf(find)) };
  };
  const [one, many] = [await look('one'), await look('many')];
  assert.deepEqual([one.count, many.count], [1, 40]);
  assert.ok(one.rows > 6_000, 'what closes something was read');
  assert.ok(many.rows < 5 * one.rows, `${many.rows} rows for 40, ${one.rows} rows for 1`);
});
