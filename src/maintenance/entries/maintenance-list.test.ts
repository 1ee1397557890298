/** Lists and counts of entries with every filter, in every anchor status, and of an asset with very many. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import type { Database } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import { type AnchorStatus, anchorStatuses } from '../../proof/anchor-status.ts';
import { makeEntry } from './maintenance-content.ts';
import { countMaintenances, type EntryQuery, listMaintenances } from './maintenance-list.ts';
import type { Maintenance } from './maintenances.store.ts';

const workspaceId = 'ws_1';
const vault = { id: 'vlt_1', address: `0x${'22'.repeat(20)}` };
const worker = { id: 'wrk_1', address: `0x${'33'.repeat(20)}`, name: 'Mia' };
const day = (number: number) => new Date(Date.UTC(2026, 0, 1 + number));

interface Expected {
  id: string;
  type: string;
  status: AnchorStatus;
  performedAt: Date;
}

let database: Database;
/** Entries of the asset, in the expected order. */
let all: Expected[];

before(async () => {
  database = await openTestDatabase({ fresh: true });
  const made: Expected[] = [];
  for (let n = 0; n < 60; n += 1) {
    // Recorded in a different order than the work was done, and several on one day.
    const performedAt = day((n * 7) % 20);
    const type = n % 3 === 0 ? 'check' : 'repair';
    const status = anchorStatuses[n % 5] ?? 'pending';
    made.push({ id: await addEntry('pump', type, performedAt), type, status, performedAt });
    await addEntry('valve', type, performedAt);
  }
  for (const status of anchorStatuses) {
    if (status !== 'pending') {
      await batch(
        status,
        made.filter((one) => one.status === status).map(({ id }) => id),
      );
    }
  }
  all = made.sort(
    (one, other) => other.performedAt.getTime() - one.performedAt.getTime() || (one.id < other.id ? 1 : -1),
  );
});
after(() => database.close());

/** How many entries each asset has. */
const numbers = new Map<string, number>();

async function addEntry(assetId: string, type: string, performedAt: Date): Promise<string> {
  const { maintenanceId, at } = makeEntry({
    ...{ workspaceId, assetId, vault, worker, type, summary: 's', performedAt },
    data: {},
    usage: null,
    files: [],
    supersedes: null,
    requires: { scope: 'repair', categories: [], critical: false },
  });
  numbers.set(assetId, (numbers.get(assetId) ?? 0) + 1);
  const { writes } = at({ number: numbers.get(assetId) ?? 0, previousEntry: Buffer.alloc(32) });
  await insertAll(database.db, writes);
  return maintenanceId;
}

/** Puts leaves into a batch of this status, as the batcher and the sender would do. */
async function batch(status: AnchorStatus, ids: string[]): Promise<void> {
  const mined = status === 'confirmed' || status === 'finalized';
  await database.pool.query(
    `with account as (
       insert into sender_accounts (address, next_nonce) values (substr(sha256($1::text::bytea), 1, 20), 1) returning address
     ), sent as (
       insert into outgoing_transactions (account, nonce, purpose, to_address, call_data, gas_limit)
       select address, 0, 'anchor', address, '', 1 from account returning id
     ), made as (
       insert into anchor_batches (root, size, outgoing_id, status, transaction_hash, block_number, block_hash, block_time,
         evidence_root, head_path)
       select sha256($1::text::bytea), $2, id, $1::text, sha256('tx'), $3::int, sha256('block'), 1800000000,
         sha256(''), '' from sent returning id
     )
     insert into anchor_places (first_id, batch_id, places)
     select l.id, made.id, array[t.place - 1]
     from made, unnest($4::text[]) with ordinality as t (id, place) join anchor_leaves l on l.subject_id = t.id`,
    [status, ids.length, mined ? 7 : null, ids],
  );
}

async function walk(
  query: Omit<EntryQuery, 'limit'>,
  limit = 7,
  walkLength?: number,
): Promise<Maintenance[]> {
  const items: Maintenance[] = [];
  for (let after: EntryQuery['after']; ; ) {
    const page = await listMaintenances(
      database.db,
      { workspaceId, assetId: 'pump', ...query, after, limit },
      walkLength,
    );
    assert.ok(page.items.length <= limit);
    items.push(...page.items);
    if (page.next === null) return items;
    after = page.next;
  }
}

const idsOf = (items: Maintenance[]) => items.map(({ maintenanceId }) => maintenanceId);

test('lists each entry once, latest work first, page by page, under every filter', async () => {
  const [from, to] = [day(5), day(11)];
  const filters: [Omit<EntryQuery, 'limit'>, (one: Expected) => boolean][] = [
    [{}, () => true],
    [{ type: 'check' }, ({ type }) => type === 'check'],
    [{ type: 'none' }, () => false],
    [{ from }, ({ performedAt }) => performedAt >= from],
    [{ to }, ({ performedAt }) => performedAt < to],
    [
      { from, to, type: 'repair' },
      ({ performedAt, type }) => type === 'repair' && performedAt >= from && performedAt < to,
    ],
  ];
  for (const [query, fits] of filters) {
    const expected = all.filter(fits).map(({ id }) => id);
    assert.deepEqual(idsOf(await walk(query)), expected);
    const counted = await countMaintenances(database.db, { workspaceId, assetId: 'pump', ...query });
    assert.equal(counted, expected.length);
    for (const status of anchorStatuses) {
      const having = all.filter((one) => fits(one) && one.status === status).map(({ id }) => id);
      const found = await walk({ ...query, status });
      assert.deepEqual(idsOf(found), having);
      assert.ok(found.every((one) => one.status === status));
      // Also when a page ends before it is full.
      assert.deepEqual(idsOf(await walk({ ...query, status }, 7, 5)), having);
    }
  }
});

test('lists and counts 100,000 entries from indexes, and no page reads more than it shows', async () => {
  await database.pool.query(
    `insert into maintenances (workspace_id, id, asset_id, vault_id, worker_id, worker_address, worker_name, type, summary,
       performed_at, entry, salt, hash, created_at, number)
     select 'ws_1', 'mnt_' || lpad(n::text, 26, '0'), 'engine', 'vlt_1', 'wrk_1', '0x', 'Mia', 'type ' || n % 10, 's',
       timestamptz '2020-01-01Z' + n * interval '1 minute', '{}', sha256(n::text::bytea), sha256(n::text::bytea), now(), n
     from generate_series(1, 100000) as n`,
  );
  await database.pool.query('vacuum analyze maintenances');
  const asset = { workspaceId, assetId: 'engine' };
  assert.equal(await countMaintenances(database.db, asset), 100_000);
  assert.equal(await countMaintenances(database.db, { ...asset, type: 'type 3' }), 10_000);
  // The newest entry has the highest number. Wherever a page begins, it has the next thousand.
  const idOf = (n: number) => `mnt_${String(n).padStart(26, '0')}`;
  const placeOf = (n: number) => ({
    performedAt: new Date(Date.UTC(2020, 0, 1) + n * 60_000),
    maintenanceId: idOf(n),
  });
  for (const [after, first] of [
    [undefined, 100_000],
    [placeOf(99_001), 99_000],
    [placeOf(50_001), 50_000],
    [placeOf(1_001), 1_000],
  ] as const) {
    const page = await listMaintenances(database.db, { ...asset, after, limit: 1000 });
    assert.deepEqual(
      idsOf(page.items),
      Array.from({ length: 1000 }, (_, place) => idOf(first - place)),
    );
    assert.deepEqual(page.next, first === 1_000 ? null : placeOf(first - 999));
  }
  const plan = async (text: string) =>
    (await database.pool.query(`explain (analyze, buffers, format json) ${text}`)).rows[0]['QUERY PLAN'][0]
      .Plan;
  const within = "from maintenances where workspace_id = 'ws_1' and asset_id = 'engine'";
  const counting = await plan(`select count(*) ${within}`);
  assert.deepEqual(scansIn(counting), ['Index Only Scan']);
  const deep = await plan(
    `select * ${within} and (performed_at, id) < (timestamptz '2020-02-01Z', 'mnt_') order by performed_at desc, id desc limit 100`,
  );
  assert.deepEqual(scansIn(deep), ['Index Scan']);
  assert.ok(deep['Shared Hit Blocks'] + deep['Shared Read Blocks'] < 400, JSON.stringify(deep));
});

interface PlanNode {
  'Node Type': string;
  Plans?: PlanNode[];
}

/** The scan types of a plan, whether or not the planner uses parallel workers. */
function scansIn({ 'Node Type': type, Plans = [] }: PlanNode): string[] {
  return [...(type.endsWith('Scan') ? [type] : []), ...Plans.flatMap(scansIn)];
}
