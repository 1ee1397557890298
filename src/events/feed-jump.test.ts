/** After lost commits the feed goes on behind the positions that readers may have seen, and no reader misses an event. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestDatabase } from '../../test/support/service/database.ts';
import { createWorkspace } from '../access/workspaces/workspaces.ts';
import { insertAll } from '../db/writes.ts';
import { runEach } from '../runtime/check.ts';
import { orderEvents } from './event-order.ts';
import { segmentsPass } from './event-segments.check.ts';
import { eventWrite } from './events.ts';
import { readFeed, tailPosition } from './feed.ts';
import { jumpFeed } from './feed-jump.ts';

test('a reader who has seen lost events gets every event after the jump', async (t) => {
  const { db, pool, close } = await openTestDatabase();
  t.after(close);
  const { id: workspaceId } = await createWorkspace(db, { name: 'Readers' });
  const happen = async (count: number) => {
    const at = new Date();
    const data = { vault_id: 'vlt_1', address: '0x', deactivated_at: at.toISOString() };
    const event = () => eventWrite({ workspaceId, type: 'vault.deactivated', at, data });
    await insertAll(db, Array.from({ length: count }, event));
    while (await orderEvents(pool));
  };
  const readAfter = (after: number) =>
    readFeed(pool, { workspaceId, type: undefined, after, limit: 100 }).then(({ items }) => items);
  const findings = async () => {
    const [report] = await runEach([{ name: 'feed', passes: [segmentsPass(db)] }], { settleMs: 0 });
    return report?.findings.map(({ rule }) => rule);
  };

  await happen(3);
  assert.equal(await tailPosition(pool), 3);
  // The lost database has gone on to position 5,000, which a reader has seen.
  await db.transaction().execute(jumpFeed);
  assert.ok((await tailPosition(pool)) > 5_000);
  await happen(2);
  const seen = await readAfter(5_000);
  assert.equal(seen.length, 2);
  assert.equal((await readAfter(0)).length, 5);
  assert.deepEqual(await findings(), []);

  await db.transaction().execute(jumpFeed);
  await db.transaction().execute(jumpFeed);
  await happen(1);
  assert.equal((await readAfter(seen.at(-1)?.position ?? 0)).length, 1);
  assert.deepEqual(await findings(), []);
  await pool.query('delete from feed_jumps where to_position = (select max(to_position) from feed_jumps)');
  assert.deepEqual(await findings(), ['feed_gap']);
});
