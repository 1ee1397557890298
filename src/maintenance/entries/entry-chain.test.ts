/** The entries of an asset are numbered without gaps and follow each other, whoever adds them at the same time. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { runEach } from '../../runtime/check.ts';
import { followCorrections } from '../intervals/asset-intervals.ts';
import { entryClaims, findEntryPlaces } from './entry-chain.ts';
import { createMaintenanceCreator, type NewMaintenance } from './maintenance-creation.ts';
import { maintenancesCheck } from './maintenances.check.ts';

const workspaceId = 'ws_1';
const caller = { workspaceId, actor: { kind: 'system', id: 'test' } as const, scopes: [], requestId: null };
const workerAddress = `0x${'33'.repeat(20)}`;
let database: Awaited<ReturnType<typeof openTestDatabase>>;
let other: Database;
/** As two nodes have it. */
let create: ReturnType<typeof createMaintenanceCreator>;
let createElsewhere: typeof create;
let assets = 0;

before(async () => {
  database = await openTestDatabase();
  const { db, pool, url } = database;
  other = openDatabase({ connection: () => ({ connectionString: url }), onError: () => {} });
  await pool.query("insert into workspaces (id, name, slug) values ('ws_1', 'a', 'a')");
  await pool.query(
    `insert into vaults (workspace_id, id, name, address) values ('ws_1', 'vlt_1', '', '0x${'22'.repeat(20)}')`,
  );
  await pool.query(
    `insert into workers (workspace_id, id, name, address, key_holder, licences)
     values ('ws_1', 'wrk_1', 'Mia', $1, 'worker', '[]')`,
    [workerAddress],
  );
  create = createMaintenanceCreator({ db, onCorrected: followCorrections });
  createElsewhere = createMaintenanceCreator({ db: other.db, onCorrected: followCorrections });
});
after(async () => {
  await other.close();
  await database.close();
});

async function newAsset(): Promise<string> {
  assets += 1;
  const assetId = `pump ${assets}`;
  const { pool } = database;
  await pool.query(
    `insert into assets (workspace_id, asset_id, vault_id, name, last_leaf) values ('ws_1', $1, 'vlt_1', '', sha256(''))`,
    [assetId],
  );
  await pool.query(
    "insert into asset_workers (workspace_id, asset_id, address, worker_id) values ('ws_1', $1, $2, 'wrk_1')",
    [assetId, workerAddress],
  );
  return assetId;
}

async function add(assetId: string, more: Partial<NewMaintenance> = {}, by = create): Promise<string> {
  const performedAt = new Date('2026-01-15T09:30:00Z');
  const work = { assetId, workerAddress, type: 'repair', summary: 'Seal replaced', performedAt, ...more };
  return (await by(caller, work, () => [])).maintenanceId;
}

/** The ids in the order of their numbers, after checking that they form a chain. */
async function chainOf(assetId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string; number: number; leaf: Buffer; claims: string }>`
    select m.id, m.number, l.leaf, l.claims
    from maintenances m join anchor_leaves l on l.workspace_id = m.workspace_id and l.subject_id = m.id
      and l.kind = 'maintenance'
    where m.asset_id = ${assetId} order by m.number`.execute(database.db);
  let previousEntry: Buffer = Buffer.alloc(32);
  for (const [place, { number, leaf, claims }] of rows.entries()) {
    assert.equal(number, place + 1);
    const { salt, ...rest } = JSON.parse(claims);
    assert.match(salt, /^0x[0-9a-f]{64}$/);
    assert.deepEqual(rest, entryClaims(assetId, { number, previousEntry }));
    previousEntry = leaf;
  }
  return rows.map(({ id }) => id);
}

test('entries recorded one after the other follow each other in that order', async () => {
  const assetId = await newAsset();
  const ids = [await add(assetId), await add(assetId)];
  ids.push(await add(assetId, { supersedes: ids[0] }));
  assert.deepEqual(await chainOf(assetId), ids);
});

test('concurrent entries of two nodes form one chain for each asset, corrections included', async () => {
  const mine = [await newAsset(), await newAsset(), await newAsset()];
  const corrected = await Promise.all(mine.map((assetId) => add(assetId)));
  const added = await Promise.all(
    Array.from({ length: 120 }, (_, n) => {
      const assetId = mine[n % mine.length] ?? assert.fail();
      return add(assetId, {}, n % 2 === 0 ? create : createElsewhere);
    }).concat(
      mine.map((assetId, n) =>
        add(assetId, { supersedes: corrected[n] }, n === 0 ? create : createElsewhere),
      ),
    ),
  );
  const found = (await Promise.all(mine.map(chainOf))).flat();
  assert.deepEqual(found.sort(), [...corrected, ...added].sort());
});

test('a refused entry leaves no gap, and neither does one that the database refuses', async () => {
  const assetId = await newAsset();
  const first = await add(assetId);
  const over = 2_000_000;
  const limit = (limits: object) =>
    database.pool.query('update workspaces set limits = $1', [JSON.stringify(limits)]);
  await limit({ stored_bytes: over });
  const large = { data: { text: 'x'.repeat(over) } };
  const outcomes = await Promise.allSettled([
    add(assetId),
    add(assetId, large),
    add(assetId, { supersedes: first }),
    add(assetId, { supersedes: first }),
    add(assetId, { supersedes: 'mnt_unknown' }),
    add(assetId),
  ]);
  await limit({});
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'rejected', 'fulfilled'],
  );
  assert.equal((await chainOf(assetId)).length, 4);
});

test('an asset that is locked does not hold up the others', async () => {
  const [locked, free] = [await newAsset(), await newAsset()];
  const client = await database.pool.connect();
  let waiting: Promise<string[]>;
  try {
    await client.query('begin');
    await client.query('select 1 from assets where asset_id = $1 for update', [locked]);
    let done = false;
    waiting = Promise.all([add(locked), add(locked)]);
    void waiting.then(() => {
      done = true;
    });
    const ids = await Promise.all([add(free), add(free), add(free)]);
    ids.push(await add(free));
    assert.deepEqual((await chainOf(free)).sort(), ids.sort());
    await waitUntil(async () => {
      const { rows } = await database.pool.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length > 0;
    });
    assert.equal(done, false);
    await client.query('commit');
  } finally {
    client.release();
  }
  const ids = await waiting;
  assert.deepEqual((await chainOf(locked)).sort(), ids.sort());
});

test('an entry of an unknown asset is refused', async () => {
  await assert.rejects(add('unknown'), { code: 'resource_not_found' });
});

test('says where entries are, and which one is before', async () => {
  const assetId = await newAsset();
  const ids = [await add(assetId), await add(assetId)];
  const found = await findEntryPlaces(
    database.db,
    [...ids.toReversed(), 'mnt_unknown'].map((maintenanceId) => ({ workspaceId, maintenanceId })),
  );
  assert.deepEqual(found, [
    { assetId, number: 2, previousId: ids[0] },
    { assetId, number: 1, previousId: null },
    null,
  ]);
});

test('the check of all these finds nothing', async () => {
  const [report] = await runEach([maintenancesCheck(database.db)], { settleMs: 0 });
  assert.ok(report && report.checked > 100);
  assert.deepEqual(report.findings, []);
});
