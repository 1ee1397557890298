/** Requests that take every connection to the database do not keep what was accepted from being anchored. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { startService } from '../support/service/service.ts';

test('anchoring goes on while requests have all connections to the database', async () => {
  const env = { HOLDFAST_MASTER_KEY: randomBytes(32).toString('hex') };
  const service = await startService({ env, chain: true });
  // Accepts what the other one anchors.
  const other = await startService({ env, databaseUrl: service.databaseUrl, runLoops: false });
  const asked: Promise<unknown>[] = [];
  try {
    const vault = await other.call('POST', '/api-v1/platform/vaults', {
      key: service.key,
      body: { name: 'v' },
    });
    const body = { vaultAddress: vault.json.address, data: { a: 1 } };
    const make = async () => {
      const made = await other.call('POST', '/api-v1/platform/records', { key: service.key, body });
      assert.equal(made.status, 202, made.text);
      return made.json.id as string;
    };
    const statusOf = async (id: string) =>
      (await other.call('GET', `/api-v1/platform/records/${id}`, { key: service.key })).json.status;
    const first = await make();
    await waitUntil(async () => (await statusOf(first)) !== 'pending');
    await withClient({ connectionString: service.databaseUrl }, async (client) => {
      await client.query('begin');
      await client.query('lock table holds in access exclusive mode');
      // More than there are connections; each waits for the table.
      for (let place = 0; place < 20; place += 1) asked.push(service.call('GET', '/api-v1/platform/holds'));
      const waiting = async () => {
        const { rows } = await service.sql(
          `select count(*)::int as count from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query like '%holds%'`,
        );
        return rows[0].count as number;
      };
      await waitUntil(async () => (await waiting()) >= 8);
      const id = await make();
      await waitUntil(async () => ['confirmed', 'finalized'].includes(await statusOf(id)));
      assert.ok((await waiting()) >= 8, 'they still wait');
      await client.query('rollback');
    });
  } finally {
    await Promise.allSettled(asked);
    await other.close();
    await service.close();
  }
});
