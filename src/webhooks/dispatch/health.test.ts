/** Endpoint health: failures, recoveries, and when an endpoint is disabled. */
// own process: it makes ids while the clock is ahead
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { createWorkspace } from '../../access/workspaces/workspaces.ts';
import { createAddressGuard, toAllowList } from '../../egress/address-guard.ts';
import { type Keyring, openKeyring } from '../../keys/keyring.ts';
import { newId } from '../../runtime/ids.ts';
import { createEndpoints, type Endpoints } from '../endpoints/endpoints.ts';
import { createTester } from '../endpoints/test-event.ts';
import { createExchanger, type Exchanger } from '../exchange/exchange.ts';
import { lineChanges } from '../ordering/line-changes.ts';
import { createHealthKeeper } from './health.ts';
import { type ClaimedEndpoint, createQueue } from './queue.ts';

const dayMs = 24 * 60 * 60 * 1000;

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let keyring: Keyring;
let exchanger: Exchanger;
let endpoints: Endpoints;
let workspaceId: string;
let id: string;
before(async () => {
  database = await openTestDatabase();
  const { db } = database;
  keyring = await openKeyring({ db, source: { text: randomBytes(32).toString('hex') } });
  const guard = createAddressGuard(toAllowList([]));
  exchanger = createExchanger({ guard, timeoutMs: 1000, caFile: null });
  const tester = createTester({ exchanger, serviceName: 'Service' });
  endpoints = createEndpoints({ db, keyring, guard, tester, eventWakeup: { wake() {} }, lines: lineChanges });
});
after(async () => {
  await exchanger.close();
  await keyring.close();
  await database.close();
});
beforeEach(async () => {
  workspaceId = (await createWorkspace(database.db, { name: `Health ${randomUUID()}` })).id;
  id = newId('whe');
  await database.pool.query(
    `insert into webhook_endpoints (workspace_id, id, url, event_types)
     values ($1, $2, 'https://example.org/', '{vault.deactivated,endpoint.disabled}')`,
    [workspaceId, id],
  );
});

interface Row {
  enabled: boolean;
  disabled_reason: string | null;
  failing_since: Date | null;
  revision: number;
}

async function row(): Promise<Row> {
  return (await database.pool.query<Row>('select * from webhook_endpoints where id = $1', [id]))
    .rows[0] as Row;
}

/** The endpoint as a claim made now would return it. */
async function claimed(): Promise<ClaimedEndpoint> {
  await database.pool.query(
    "insert into events (workspace_id, id, type, envelope) values ($1, $2, 'vault.deactivated', '{}')",
    [workspaceId, newId('evt')],
  );
  const request = { claimId: randomUUID(), nodeId: 1, leaseMs: 60_000, room: [], usual: 100, limit: 1000 };
  const deliveries = await createQueue(database.pool).claim({ ...request, fullWorkspaces: [], waiting: [] });
  const endpoint = deliveries.find((delivery) => delivery.endpoint.id === id)?.endpoint;
  assert.ok(endpoint);
  await database.pool.query('delete from webhook_queue where endpoint_id = $1', [id]);
  await database.pool.query('delete from webhook_deliveries where endpoint_id = $1', [id]);
  return endpoint;
}

const agoText = "now() - $2 * interval '1 millisecond'";

/** Failing for `ms`, with the last attempt `quietMs` ago. */
const failingFor = (ms: number, { quietMs = 0 } = {}) =>
  database.pool.query(
    `update webhook_endpoints set failing_since = ${agoText}, last_failure_at = ${agoText.replace('$2', '$3')}
     where id = $1`,
    [id, ms, quietMs],
  );

async function startedToday(): Promise<boolean> {
  const { rows } = await database.pool.query(
    "select failing_since > now() - interval '1 hour' as today from webhook_endpoints where id = $1",
    [id],
  );
  return rows[0].today;
}

async function disabledEvents(): Promise<{ data: Record<string, string> }[]> {
  const { rows } = await database.pool.query(
    "select envelope from events where workspace_id = $1 and type = 'endpoint.disabled'",
    [workspaceId],
  );
  return rows.map(({ envelope }) => JSON.parse(envelope));
}

test('stores the first failure, keeps it on later ones, and clears it on a success', async () => {
  const keep = createHealthKeeper(endpoints);
  const asClaimed = await claimed();
  await keep(asClaimed, 'failing');
  const since = (await row()).failing_since;
  assert.ok(since);
  await keep(asClaimed, 'failing');
  await keep(await claimed(), 'failing');
  assert.deepEqual((await row()).failing_since, since);
  await keep(await claimed(), 'well');
  assert.equal((await row()).failing_since, null);
  assert.equal((await row()).enabled, true);
});

test('stores a recovery with the next success if it could not be stored before', async () => {
  let away = true;
  const keep = createHealthKeeper({
    disable: endpoints.disable,
    async setFailing(id, failing) {
      if (away) throw new Error('the database is away');
      await endpoints.setFailing(id, failing);
    },
  });
  await failingFor(dayMs);
  const asClaimed = await claimed();
  await assert.rejects(async () => keep(asClaimed, 'well'));
  away = false;
  await keep(asClaimed, 'well');
  assert.equal((await row()).failing_since, null);
});

test('a success of a delivery claimed before the failure clears it too', async () => {
  const keep = createHealthKeeper(endpoints);
  const claimedTogether = await claimed();
  await keep(claimedTogether, 'failing');
  await keep(claimedTogether, 'well');
  assert.equal((await row()).failing_since, null);
});

test('an endpoint that stays healthy or keeps failing costs no statement', async () => {
  let statements = 0;
  const counting = {
    disable: endpoints.disable,
    async setFailing(id: string, failing: boolean) {
      statements += 1;
      await endpoints.setFailing(id, failing);
    },
  };
  const keep = createHealthKeeper(counting);
  const before = await claimed();
  for (let delivery = 0; delivery < 50; delivery += 1) await keep(before, 'well');
  assert.equal(statements, 0);
  for (let delivery = 0; delivery < 50; delivery += 1) await keep(before, 'failing');
  const during = await claimed();
  for (let delivery = 0; delivery < 50; delivery += 1) await keep(during, 'failing');
  assert.equal(statements, 1);
  for (let delivery = 0; delivery < 50; delivery += 1) await keep(during, 'well');
  assert.equal(statements, 2);
  assert.equal((await row()).failing_since, null);
});

test('disables an endpoint after five days without a success, with an event, and skips its queue', async () => {
  const keep = createHealthKeeper(endpoints);
  await failingFor(5 * dayMs - 60_000);
  await keep(await claimed(), 'failing');
  assert.equal((await row()).enabled, true, 'not a minute early');

  await failingFor(5 * dayMs + 60_000);
  const asClaimed = await claimed();
  await database.pool.query(
    `with made as (
       insert into webhook_deliveries (workspace_id, id, event_id, endpoint_id, type, status, created_at)
       values ($1, 'dlv_1', 'evt_1', $2, 'vault.deactivated', 'pending', now())
       returning workspace_id, id, event_id, endpoint_id, created_at
     )
     insert into webhook_queue (workspace_id, delivery_id, event_id, endpoint_id, created_at, next_attempt_at)
     select workspace_id, id, event_id, endpoint_id, created_at, now() from made`,
    [workspaceId, id],
  );
  await Promise.all([keep(asClaimed, 'failing'), keep(asClaimed, 'failing'), keep(asClaimed, 'failing')]);
  const { enabled, disabled_reason } = await row();
  assert.deepEqual({ enabled, disabled_reason }, { enabled: false, disabled_reason: 'failing' });
  const events = await disabledEvents();
  assert.equal(events.length, 1, 'told once');
  assert.deepEqual(
    { endpoint: events[0]?.data.endpoint_id, reason: events[0]?.data.reason },
    { endpoint: id, reason: 'failing' },
  );
  const { rows } = await database.pool.query(
    "select id, status from webhook_deliveries where endpoint_id = $1 and type = 'vault.deactivated'",
    [id],
  );
  assert.deepEqual(rows, [{ id: 'dlv_1', status: 'skipped' }]);
  const waiting = await database.pool.query('select 1 from webhook_queue where endpoint_id = $1', [id]);
  assert.equal(waiting.rowCount, 0);
  const { rows: audited } = await database.pool.query(
    "select details from audit_entries where workspace_id = $1 and action = 'webhook_endpoint.disable'",
    [workspaceId],
  );
  assert.deepEqual(audited, [{ details: { reason: 'failing' } }]);
});

test('a 410 disables the endpoint at once, with one event even after many answers', async () => {
  const keep = createHealthKeeper(endpoints);
  const asClaimed = await claimed();
  await Promise.all(Array.from({ length: 8 }, () => keep(asClaimed, 'gone')));
  assert.equal((await row()).disabled_reason, 'gone');
  assert.equal((await disabledEvents()).length, 1);
});

test('a success on another node counts: a failure long after it starts a new period', async (t) => {
  const [here, elsewhere] = [createHealthKeeper(endpoints), createHealthKeeper(endpoints)];
  await here(await claimed(), 'failing');
  await failingFor(4 * dayMs);
  await elsewhere(await claimed(), 'well');
  const later = performance.now() + 6 * dayMs;
  t.mock.method(performance, 'now', () => later);
  await here(await claimed(), 'failing');
  assert.equal((await row()).enabled, true);
  assert.equal(await startedToday(), true, 'since now, not since then');
});

test('the last of a concurrent failure and success counts, and a success always clears', async () => {
  const keep = createHealthKeeper(endpoints);
  const [first, second] = [await claimed(), await claimed()];
  await Promise.all([keep(first, 'failing'), keep(second, 'well')]);
  assert.equal((await row()).failing_since, null, 'failed, then well');

  await failingFor(6 * dayMs);
  const during = await claimed();
  await Promise.all([keep(during, 'well'), keep(during, 'failing')]);
  assert.equal(await startedToday(), true, 'well, then failed: five days anew');
  await keep(await claimed(), 'well');
  assert.equal((await row()).failing_since, null);
  // This node has just cleared it; another node has seen a failure since.
  await createHealthKeeper(endpoints)(await claimed(), 'failing');
  await keep(await claimed(), 'well');
  assert.equal((await row()).failing_since, null);
});

test('the clock of the database measures the five days, whatever that of a node says', async (t) => {
  const keep = createHealthKeeper(endpoints);
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 91 * dayMs });
  await keep(await claimed(), 'failing');
  await keep(await claimed(), 'failing');
  t.mock.timers.setTime(Date.now() + 6 * dayMs);
  await keep(await claimed(), 'failing');
  t.mock.timers.reset();
  assert.equal((await row()).enabled, true);
  assert.equal(await startedToday(), true);
});

test('one failure after days without deliveries does not disable an endpoint', async () => {
  const keep = createHealthKeeper(endpoints);
  await failingFor(6 * dayMs, { quietMs: 5 * dayMs });
  await keep(await claimed(), 'failing');
  assert.equal((await row()).enabled, true);
  assert.equal(await startedToday(), true, 'the days begin anew');
});

test('an endpoint enabled again by its owner gets five new days', async (t) => {
  const keep = createHealthKeeper(endpoints);
  await keep(await claimed(), 'failing');
  await keep(await claimed(), 'gone');
  // The same update as when the owner enables it.
  await database.pool.query(
    'update webhook_endpoints set enabled = true, disabled_reason = null, failing_since = null where id = $1',
    [id],
  );
  const later = performance.now() + 6 * dayMs;
  t.mock.method(performance, 'now', () => later);
  await keep(await claimed(), 'failing');
  assert.equal((await row()).enabled, true);
});
