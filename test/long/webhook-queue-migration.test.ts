/** The migration that gave the delivery queue a table of its own. */
import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { indexOnly, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { createQueue } from '../../src/webhooks/dispatch/queue.ts';
import { createTestDatabase } from '../support/service/database.ts';

const migrations = join(import.meta.dirname, '../../migrations');

test('sends deliveries that were open before the queue had a table, in turn, and leaves the rest', async () => {
  const database = await createTestDatabase({ empty: true });
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-migrations-'));
  const connection = { connectionString: database.url };
  // As the dispatcher's connections are.
  const { pool, close } = openDatabase({ connection: () => connection, onError() {}, settings: indexOnly });
  try {
    for (const file of await readdir(migrations))
      if (file < '0006') await cp(join(migrations, file), join(dir, file));
    await migrate({ connection, dir });
    await pool.query("insert into workspaces (id, name, slug) values ('ws_1', 'w', 'w')");
    await pool.query(
      "insert into webhook_endpoints (workspace_id, id, url, event_types) values ('ws_1', 'whe_1', 'https://example.org/', '{a}')",
    );
    // Of a type that makes no deliveries by itself.
    await pool.query(
      "insert into events (workspace_id, id, type, envelope) values ('ws_1', 'evt_1', 'b', 'the text')",
    );
    await pool.query(`
      insert into webhook_deliveries (workspace_id, id, event_id, endpoint_id, type, created_at, status, open, retrying,
        next_attempt_at, first_attempt_at, attempt_count, attempts, claim_id, claimed_by, lease_until)
      select 'ws_1', id, 'evt_1', 'whe_1', 'b', now() - interval '2 days', status, status in ('pending', 'delivering'),
        tried > 0, now() + due::interval, case when tried > 0 then now() - interval '1 day' end, tried,
        case when tried > 0 then '[{"number": 1}]'::jsonb else '[]' end, claim, claim::integer,
        case when claim is not null then now() + interval '1 hour' end
      from (values
        ('dlv_due', 'pending', '-1 minute', 0, null),
        ('dlv_claimed', 'delivering', '-2 minutes', 0, '7'),
        ('dlv_again', 'pending', '-3 seconds', 1, null),
        ('dlv_later', 'pending', '1 hour', 1, null),
        ('dlv_done', 'succeeded', null, 1, null),
        ('dlv_skipped', 'skipped', null, 0, null)
      ) as old (id, status, due, tried, claim)`);

    const applied = await migrate({ connection });
    assert.equal(applied[0], '0006_webhook_queue');
    const statuses = await pool.query('select id, status, attempt_count from webhook_deliveries order by id');
    assert.deepEqual(
      statuses.rows.map(({ id, status, attempt_count }) => [id, status, attempt_count]),
      [
        ['dlv_again', 'pending', 1],
        ['dlv_claimed', 'pending', 0],
        ['dlv_done', 'succeeded', 1],
        ['dlv_due', 'pending', 0],
        ['dlv_later', 'pending', 1],
        ['dlv_skipped', 'skipped', 0],
      ],
    );
    // However long the migrations took: a retry that is long overdue goes first.
    await pool.query(
      "update webhook_queue set next_attempt_at = now() - interval '3 seconds' where delivery_id = 'dlv_again'",
    );
    const queue = createQueue(pool);
    const request = {
      claimId: 'c',
      nodeId: 1,
      leaseMs: 60_000,
      room: [],
      usual: 10,
      fullWorkspaces: [],
      waiting: [],
      limit: 10,
    };
    const claimed = await queue.claim(request);
    assert.deepEqual(
      claimed.map(({ id, envelope, attemptCount }) => [id, envelope, attemptCount]),
      [
        ['dlv_claimed', 'the text', 0],
        ['dlv_due', 'the text', 0],
        ['dlv_again', 'the text', 1],
      ],
    );
    assert.ok(claimed[2]?.firstAttemptAt, 'since when it was tried is kept');
    const { rows } = await pool.query('select delivery_id from webhook_queue where claim_id is null');
    assert.deepEqual(rows, [{ delivery_id: 'dlv_later' }]);
  } finally {
    await close();
    await rm(dir, { recursive: true });
    await database.drop();
  }
});
