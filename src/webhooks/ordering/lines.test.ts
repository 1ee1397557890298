/** The lines of ordered endpoints: what is due, what waits, and what is found when a node died before it released it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { placeAll } from '../../../test/support/fixtures/placed-events.ts';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { createWorkspace } from '../../access/workspaces/workspaces.ts';
import { newId } from '../../runtime/ids.ts';
import { openLine } from './lines.store.ts';
import { createLines, type Lines } from './lines.ts';
import { resourceOf } from './resource.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let lines: Lines;
let workspaceId: string;
let endpointId: string;
before(async () => {
  database = await openTestDatabase();
  const { db, pool } = database;
  lines = createLines({ db, pool, deliveryWakeup: { wake() {} } });
  workspaceId = (await createWorkspace(db, { name: 'Lines' })).id;
  endpointId = newId('whe');
  await pool.query(
    `insert into webhook_endpoints (workspace_id, id, url, event_types, ordering)
     values ($1, $2, 'https://example.org/', '{vault.*}', 'resource')`,
    [workspaceId, endpointId],
  );
  await openLine(db, { workspaceId, endpointId, position: 0 });
});
after(() => database.close());

async function makeEvents(...vaults: string[]): Promise<void> {
  for (const vault of vaults) {
    const [id, type, timestamp] = [newId('evt'), 'vault.deactivated', new Date().toISOString()];
    await database.pool.query(
      'insert into events (workspace_id, id, type, envelope, created_at) values ($1, $2, $3, $4, $5)',
      [workspaceId, id, type, JSON.stringify({ id, type, timestamp, data: { vault_id: vault } }), timestamp],
    );
  }
  await database.pool.query(placeAll);
  while (await lines.advance());
}

async function queued(): Promise<string[]> {
  const { rows } = await database.pool.query(
    'select resource, place, asleep from webhook_queue order by resource, place',
  );
  return rows.map(({ resource, place, asleep }) => `${resource} ${place} ${asleep ? 'waits' : 'is due'}`);
}

const end = (place: number) => database.pool.query('delete from webhook_queue where place = $1', [place]);

test('only the first delivery of each resource is due, and the next one when that has ended', async () => {
  await makeEvents('a', 'b', 'a');
  assert.deepEqual(await queued(), ['a 1 is due', 'a 3 waits', 'b 2 is due']);
  await makeEvents('a', 'b');
  assert.deepEqual(await queued(), ['a 1 is due', 'a 3 waits', 'a 4 waits', 'b 2 is due', 'b 5 waits']);
  await lines.release([{ endpointId, resource: 'a' }]);
  assert.equal((await queued())[1], 'a 3 waits', 'the first one has not ended');
  await end(1);
  await lines.release([{ endpointId, resource: 'a' }]);
  assert.deepEqual(await queued(), ['a 3 is due', 'a 4 waits', 'b 2 is due', 'b 5 waits']);
});

test('what a node did not release is found, and what comes meanwhile does not overtake it', async () => {
  await end(3);
  await end(2);
  await makeEvents('c');
  assert.deepEqual(await queued(), ['a 4 waits', 'b 5 waits', 'c 6 is due']);
  assert.equal(await lines.sweep(), false);
  assert.deepEqual(await queued(), ['a 4 is due', 'b 5 is due', 'c 6 is due']);
});

test('a line locks in the same order as a change of its endpoint, so there is no deadlock', async () => {
  const change = await database.pool.connect();
  try {
    await change.query('begin');
    await change.query('select 1 from webhook_endpoints where id = $1 for update', [endpointId]);
    const made = makeEvents('d');
    await waitUntil(async () => {
      const { rows } = await database.pool.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
    await change.query('update webhook_lines set until = null where endpoint_id = $1', [endpointId]);
    await change.query('commit');
    await made;
  } finally {
    change.release(true);
  }
  assert.ok((await queued()).includes('d 7 is due'));
});

test('the resource is the most specific thing that the event names', () => {
  const type = 'maintenance.anchor.confirmed';
  assert.equal(resourceOf({ type, data: { vault_id: 'vlt_1', asset_id: 'ast_1' } }), 'ast_1');
  assert.equal(resourceOf({ type: 'vault.deactivated', data: { vault_id: 'vlt_1' } }), 'vlt_1');
  assert.equal(resourceOf({ type: 'operator.disk.low', data: { notice_id: 'ntc_1', node: 'n' } }), 'ntc_1');
  assert.equal(resourceOf({ type: 'other', data: { version: 1 } }), 'other');
});
