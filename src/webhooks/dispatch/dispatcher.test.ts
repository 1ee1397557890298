/** The dispatcher with receivers that hang. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { createWorkspace } from '../../access/workspaces/workspaces.ts';
import { type Database, indexOnly, openDatabase } from '../../db/database.ts';
import { newId } from '../../runtime/ids.ts';
import { createWakeup } from '../../runtime/loop.ts';
import type { Exchange, Outcome } from '../exchange/exchange.ts';
import { dispatcherLoop } from './dispatcher.ts';
import { createQueue } from './queue.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let queueDatabase: Database;
before(async () => {
  database = await openTestDatabase();
  const connection = () => ({ connectionString: database.url });
  queueDatabase = openDatabase({ connection, onError() {}, settings: indexOnly });
});
after(async () => {
  await queueDatabase.close();
  await database.close();
});

async function makeEndpoint(workspaceId: string, host: string): Promise<string> {
  const id = newId('whe');
  await database.pool.query(
    "insert into webhook_endpoints (workspace_id, id, url, event_types) values ($1, $2, $3, '{vault.deactivated}')",
    [workspaceId, id, `https://${host}/`],
  );
  return id;
}

async function makeEvents(workspaceId: string, count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => newId('evt'));
  await database.pool.query(
    `insert into events (workspace_id, id, type, envelope)
     select $1, id, 'vault.deactivated', '{}' from unnest($2::text[]) as id`,
    [workspaceId, ids],
  );
}

test('hanging receivers of one workspace leave capacity on the node for another', async () => {
  const [busy, other] = [
    (await createWorkspace(database.db, { name: 'Busy' })).id,
    (await createWorkspace(database.db, { name: 'Other' })).id,
  ];
  for (let number = 0; number < 10; number += 1) await makeEndpoint(busy, 'hangs.example.org');
  const well = await makeEndpoint(other, 'well.example.org');
  const held: (() => void)[] = [];
  let delivered = 0;
  const answer: Outcome = {
    durationMs: 1,
    statusCode: 204,
    error: null,
    responseHeaders: {},
    responseBody: '',
    retryAfter: null,
    cutOff: false,
  };
  const post = ({ url }: Exchange): Promise<Outcome> => {
    if (url.hostname === 'hangs.example.org')
      return new Promise((resolve) => held.push(() => resolve(answer)));
    delivered += 1;
    return Promise.resolve(answer);
  };
  const wakeup = createWakeup();
  const loop = dispatcherLoop({
    queue: createQueue(queueDatabase.pool),
    exchanger: { post, close: async () => {} },
    retryStepsMs: [],
    timeoutMs: 60_000,
    senderOf: async () => ({ sign: () => ({}), client: null }),
    onHealth: async () => {},
    onWritten() {},
    nodeId: 1,
    wakeup,
    log: { error: (details) => assert.fail(JSON.stringify(details)) },
    // Less than the hanging requests could fill.
    mostInHand: 60,
  });
  const stopping = new AbortController();
  await makeEvents(busy, 20);
  const running = loop.run(stopping.signal, () => {});
  try {
    // All of their deliveries that this node may hold are in flight, and stay so.
    await waitUntil(() => held.length >= 30);
    await makeEvents(other, 5);
    wakeup.wake();
    await waitUntil(() => delivered === 5);
    await waitUntil(async () => {
      const { rows } = await database.pool.query('select from webhook_queue where endpoint_id = $1', [well]);
      return rows.length === 0;
    });
    assert.ok(held.length < 60);
  } finally {
    stopping.abort();
    for (const end of held) end();
    await running;
  }
});
