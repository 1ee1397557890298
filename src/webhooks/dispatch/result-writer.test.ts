/** How results are saved when one of them, or the database, causes trouble. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { createWorkspace } from '../../access/workspaces/workspaces.ts';
import { insertAll } from '../../db/writes.ts';
import { eventWrite } from '../../events/events.ts';
import { newId } from '../../runtime/ids.ts';
import { createQueue, type DeliveryResult } from './queue.ts';
import { createResultWriter } from './result-writer.ts';

test('a response that cannot be stored does not hold up other results, and is replaced by a note', async () => {
  const database = await openTestDatabase();
  try {
    const workspaceId = (await createWorkspace(database.db, { name: 'Results' })).id;
    await database.pool.query(
      `insert into webhook_endpoints (workspace_id, id, url, event_types)
       values ($1, $2, 'https://example.org/', '{vault.deactivated}')`,
      [workspaceId, newId('whe')],
    );
    const at = new Date();
    const data = { vault_id: 'vlt_1', address: '0x', deactivated_at: at.toISOString() };
    const one = () => eventWrite({ workspaceId, type: 'vault.deactivated', at, data });
    await insertAll(database.db, Array.from({ length: 7 }, one));

    const queue = createQueue(database.pool);
    const claimed = await queue.claim({
      claimId: 'c',
      nodeId: 1,
      leaseMs: 60_000,
      room: [],
      usual: 10,
      fullWorkspaces: [],
      waiting: [],
      limit: 10,
    });
    let written = 0;
    const complaints: string[] = [];
    const writer = createResultWriter({
      queue,
      onWritten: (results, refused) => (written += results.length - refused),
      log: { error: (_details, message) => complaints.push(message) },
    });
    for (const [number, delivery] of claimed.entries()) {
      const attempt = {
        // The first one is stored as text, which can be anything.
        number: 2,
        at: at.toISOString(),
        durationMs: 1,
        statusCode: 204,
        error: null,
        responseHeaders: {},
        // PostgreSQL cannot store NUL. The exchange removes it, so this simulates another way in.
        responseBody: number === 3 ? 'a\0b' : 'fine',
      };
      writer.add({ delivery, status: 'succeeded', retryInMs: null, attempt });
    }
    const stop = new AbortController();
    const running = writer.run(stop.signal, () => {});
    await waitUntil(() => written === 7);
    stop.abort();
    await running;
    const { rows } = await database.pool.query(
      "select status, attempts -> 0 ->> 'responseBody' as body, count(*)::integer from webhook_deliveries group by 1, 2 order by 3",
    );
    assert.deepEqual(
      rows.map(({ status, body, count }) => [status, body, count]),
      [
        ['succeeded', '(the response could not be stored)', 1],
        ['succeeded', 'fine', 6],
      ],
    );
    assert.deepEqual(complaints, ['could not store a response']);
  } finally {
    await database.close();
  }
});

test('stores results completely and together after a lock or a timeout delayed them', async () => {
  const database = await openTestDatabase();
  try {
    const sizes: number[] = [];
    let written: DeliveryResult[] = [];
    const writer = createResultWriter({
      queue: {
        async complete(results) {
          sizes.push(results.length);
          if (sizes.length > 1) return results.length;
          const client = await database.pool.connect();
          try {
            await client.query('set statement_timeout = 1');
            await client.query('select pg_sleep(60)');
            return assert.fail('it was not cut off');
          } finally {
            client.release(true);
          }
        },
      },
      onWritten: (results) => (written = results),
      log: { error() {} },
    });
    const attempt = { number: 1, at: '', durationMs: 1, statusCode: 200, error: null, responseHeaders: {} };
    for (let number = 0; number < 4; number += 1) {
      const delivery = { id: `dlv_${number}` } as DeliveryResult['delivery'];
      writer.add({
        delivery,
        status: 'succeeded',
        retryInMs: null,
        attempt: { ...attempt, responseBody: 'kept' },
      });
    }
    const stop = new AbortController();
    const running = writer.run(stop.signal, () => {});
    await waitUntil(() => written.length === 4);
    stop.abort();
    await running;
    assert.deepEqual(sizes, [4, 4]);
    assert.ok(written.every(({ attempt }) => attempt?.responseBody === 'kept'));
  } finally {
    await database.close();
  }
});
