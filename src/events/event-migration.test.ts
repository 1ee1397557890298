/** Events of the former schema, which had their positions in their own rows, keep these positions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestDatabase } from '../../test/support/service/database.ts';
import { openDatabase } from '../db/database.ts';
import { knownMigrations, migrate } from '../db/migrate.ts';
import { insertAll } from '../db/writes.ts';
import { runEach } from '../runtime/check.ts';
import { newId } from '../runtime/ids.ts';
import { orderEvents } from './event-order.ts';
import { segmentsPass } from './event-segments.check.ts';
import { eventWrite } from './events.ts';
import { readFeed } from './feed.ts';

test('a feed of the former schema is the same afterwards, and goes on', async (t) => {
  const testDatabase = await createTestDatabase({ empty: true });
  const connection = { connectionString: testDatabase.url };
  const { db, pool, close } = openDatabase({ connection: () => connection, onError() {} });
  t.after(async () => {
    await close();
    await testDatabase.drop();
  });
  const former = (await knownMigrations()).indexOf('0033_event_places');
  await migrate({ connection, restoring: { upTo: former } });

  const workspaces = [newId('ws'), newId('ws')];
  for (const id of workspaces)
    await pool.query('insert into workspaces (id, name, slug) values ($1, $1, lower($1))', [id]);
  const make = (workspaceId: string) => {
    const at = new Date();
    const data = { vault_id: 'vlt_1', address: '0x', deactivated_at: at.toISOString() };
    const write = eventWrite({ workspaceId, type: 'vault.deactivated', at, data });
    if (write.table !== 'events') throw new Error('not an event');
    return write.row;
  };
  // First many of one workspace, then of both by turns, with one that was committed late; the last two have no position yet.
  const events = Array.from({ length: 200 }, (_, place) =>
    make(workspaces[place < 150 ? 0 : place % 2] ?? ''),
  );
  events.splice(140, 0, ...events.splice(20, 1));
  for (const [place, row] of events.entries()) {
    const values = { ...row, position: place < 198 ? place + 1 : null };
    const names = Object.keys(values);
    await pool.query(
      `insert into events (${names.join()}) values (${names.map((_, at) => `$${at + 1}`).join()})`,
      Object.values(values),
    );
  }
  await migrate({ connection });

  const readAll = async () => {
    const found: [number, string][] = [];
    for (const workspaceId of workspaces) {
      const { items } = await readFeed(pool, { workspaceId, type: undefined, after: 0, limit: 1000 });
      found.push(...items.map(({ position, envelope }): [number, string] => [position, envelope]));
    }
    return found
      .sort(([one], [other]) => one - other)
      .map(([position, envelope]) => `${position} ${envelope}`);
  };
  const expected = events.map(({ envelope }, place) => `${place + 1} ${envelope}`);
  assert.deepEqual(await readAll(), expected);
  const next = make(workspaces[1] ?? '');
  await insertAll(db, [{ table: 'events', row: next }]);
  while (await orderEvents(pool, { limit: 100 }));
  assert.deepEqual(await readAll(), [...expected, `201 ${next.envelope}`]);
  const { rows } = await pool.query(
    'select count(*) as count from event_segments where last_position <= 140',
  );
  assert.ok(rows[0].count < 10, 'events that follow each other are in segments');
  const [report] = await runEach([{ name: 'feed', passes: [segmentsPass(db)] }], { settleMs: 0 });
  assert.deepEqual([report?.findings, report?.skipped], [[], []]);
});
