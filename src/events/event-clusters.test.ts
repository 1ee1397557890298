/** The feed on a copy of the cluster that has lost the last commits, as after a failover. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loseCommits } from '../../test/support/fixtures/lost-commits.ts';
import { createWorkspace } from '../access/workspaces/workspaces.ts';
import type { Database } from '../db/database.ts';
import { insertAll } from '../db/writes.ts';
import { orderEvents } from './event-order.ts';
import { eventWrite } from './events.ts';
import { readFeed } from './feed.ts';

function write({ db }: Database, workspaceId: string, name: string): Promise<void> {
  const at = new Date();
  const data = { vault_id: name, address: '0x', deactivated_at: at.toISOString() };
  return insertAll(db, [eventWrite({ workspaceId, type: 'vault.deactivated', at, data })]);
}

async function lastNumber({ pool }: Database): Promise<number> {
  return (await pool.query('select max(written_in) as last from events')).rows[0].last;
}

test('a promoted standby that has lost commits uses their transaction numbers again, and leaves out nothing', (t) =>
  loseCommits(t, {
    async kept(database) {
      const { id } = await createWorkspace(database.db, { name: 'One' });
      await write(database, id, 'placed');
      await orderEvents(database.pool);
      await write(database, id, 'kept');
      return id;
    },
    async lost(database, workspaceId) {
      for (let round = 0; round < 5; round += 1) {
        await write(database, workspaceId, 'lost');
        await orderEvents(database.pool);
      }
      return lastNumber(database);
    },
    async after(database, { kept: workspaceId, lost }) {
      await write(database, workspaceId, 'new');
      assert.ok((await lastNumber(database)) < lost);
      while (await orderEvents(database.pool));
      const { items } = await readFeed(database.pool, { workspaceId, type: undefined, after: 0, limit: 10 });
      assert.deepEqual(
        items.map(({ position, envelope }) => [position, JSON.parse(envelope).data.vault_id]),
        [
          [1, 'placed'],
          [2, 'kept'],
          [3, 'new'],
        ],
      );
    },
  }));
