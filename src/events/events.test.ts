/** Events: their positions in the feed, with concurrent and late commits. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase, withClient } from '../../test/support/service/database.ts';
import { countEntries } from '../../test/support/service/index-entries.ts';
import { waitUntil } from '../../test/support/service/process.ts';
import { createWorkspace } from '../access/workspaces/workspaces.ts';
import { openDatabase } from '../db/database.ts';
import { insertAll, type Write } from '../db/writes.ts';
import { orderEvents, placeEvents } from './event-order.ts';
import { eventWrite } from './events.ts';
import { endOfSearch, readFeed, readFeedBackwards, tailPosition } from './feed.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase({ fresh: true });
});
after(() => database.close());

function event(workspaceId: string) {
  const at = new Date();
  return eventWrite({
    workspaceId,
    type: 'vault.deactivated',
    at,
    data: { vault_id: 'vlt_1', address: '0x', deactivated_at: at.toISOString() },
  });
}

test('an event that commits late comes after those already read, although its id is older', async () => {
  const { db, pool } = database;
  const { id: workspaceId } = await createWorkspace(db, { name: 'Late' });
  const read = async (after: number) =>
    (await readFeed(pool, { workspaceId, type: undefined, after, limit: 100 })).items;

  await withClient({ connectionString: database.url }, async (slow) => {
    const late = event(workspaceId);
    await slow.query('begin');
    assert.equal(late.table, 'events');
    const { row } = late as Extract<typeof late, { table: 'events' }>;
    await slow.query('insert into events (workspace_id, id, type, envelope) values ($1, $2, $3, $4)', [
      row.workspace_id,
      row.id,
      row.type,
      row.envelope,
    ]);
    await insertAll(db, [event(workspaceId)]);
    await orderEvents(pool);
    const first = await read(0);
    assert.equal(first.length, 1);
    await slow.query('commit');
    await orderEvents(pool);
    const second = await read(first[0]?.position ?? 0);
    assert.deepEqual(
      second.map(({ envelope }) => envelope),
      [row.envelope],
    );
  });
});

test('events placed with their insert need no second write, and follow the existing ones', async () => {
  const { db, pool } = database;
  const { id: workspaceId } = await createWorkspace(db, { name: 'At once' });
  await insertAll(db, [event(workspaceId)]);
  await orderEvents(pool);
  const tail = await tailPosition(pool);
  const events = [event(workspaceId), event(workspaceId)];
  await db.transaction().execute(async (db) => {
    await placeEvents(db, events);
    await insertAll(db, events);
  });
  const { items: placed } = await readFeed(pool, { workspaceId, type: undefined, after: tail, limit: 10 });
  assert.deepEqual(
    placed.map(({ position }) => position),
    [tail + 1, tail + 2],
  );
});

test('an event that waits for its position is not overtaken by one that has its own', async () => {
  const { db, pool } = database;
  const { id: workspaceId } = await createWorkspace(db, { name: 'Behind' });
  const [first, second] = [event(workspaceId), event(workspaceId)];
  await insertAll(db, [first]);
  const tail = await tailPosition(pool);
  await db.transaction().execute(async (db) => {
    await placeEvents(db, [second]);
    await insertAll(db, [second]);
  });
  await orderEvents(pool);
  const { items: read } = await readFeed(pool, { workspaceId, type: undefined, after: tail, limit: 10 });
  const envelopeOf = ({ row }: Write) => (row as { envelope: string }).envelope;
  assert.deepEqual(
    read.map(({ envelope }) => envelope),
    [envelopeOf(first), envelopeOf(second)],
  );
});

test('a concurrent reader sees the events of many writers exactly once', async () => {
  const { db, pool } = database;
  const { id: workspaceId } = await createWorkspace(db, { name: 'Busy' });
  let writing = true;
  const writers = Promise.all(
    Array.from({ length: 8 }, async (_, writer) => {
      for (let count = 0; count < 40; count += 1)
        await db.transaction().execute(async (db) => {
          const events = [event(workspaceId), event(workspaceId)];
          // Some assign their positions themselves, unless another transaction holds the lock.
          if (writer % 2 === 0) await placeEvents(db, events);
          await insertAll(db, events);
        });
    }),
  ).then(() => (writing = false));
  const seen: string[] = [];
  let position = 0;
  for (let idle = 0; idle < 2; ) {
    await Promise.all([orderEvents(pool, { limit: 50 }), orderEvents(pool, { limit: 50 })]);
    const { items } = await readFeed(pool, { workspaceId, type: undefined, after: position, limit: 37 });
    seen.push(...items.map(({ envelope }) => JSON.parse(envelope).id));
    position = items.at(-1)?.position ?? position;
    idle = items.length === 0 && !writing ? idle + 1 : 0;
  }
  await writers;
  assert.equal(seen.length, 640);
  assert.equal(new Set(seen).size, 640);
});

test('a rare type is searched for through a part of the feed at a time, in both directions', async () => {
  const { db, pool } = database;
  const { id: workspaceId } = await createWorkspace(db, { name: 'Rare' });
  const rare = new Set([3, 4, 11]);
  for (let number = 0; number < 14; number += 1) {
    const { row } = event(workspaceId) as Extract<Write, { table: 'events' }>;
    const type = rare.has(number) ? 'rare' : row.type;
    await insertAll(db, [{ table: 'events', row: { ...row, type, envelope: String(number) } }]);
    while ((await orderEvents(pool)) !== false);
  }
  const parts: [string[], boolean][] = [];
  for (let [after, ended] = [0, false]; !ended; ) {
    const found = await readFeed(pool, { workspaceId, type: 'rare', after, limit: 10 }, 5);
    parts.push([found.items.map(({ envelope }) => envelope), found.ended]);
    ({ upTo: after, ended } = found);
  }
  assert.deepEqual(parts, [
    [['3', '4'], false],
    [[], false],
    [['11'], true],
  ]);
  const first = await readFeed(pool, { workspaceId, type: 'rare', after: 0, limit: 1 }, 5);
  const second = await readFeed(pool, { workspaceId, type: 'rare', after: first.upTo, limit: 1 }, 5);
  assert.deepEqual(
    [...first.items, ...second.items].map(({ envelope }) => envelope),
    ['3', '4'],
  );
  assert.deepEqual([first.ended, second.ended], [false, false]);

  const backwards: string[] = [];
  for (let before: number | undefined; ; ) {
    const end = await endOfSearch(pool, { workspaceId, before }, 5);
    const items = await readFeedBackwards(pool, {
      ...{ workspaceId, type: 'rare', before },
      ...{ end: end ?? 0, limit: 10 },
    });
    backwards.push(items.map(({ envelope }) => envelope).join());
    if (end === null) break;
    before = end;
  }
  assert.deepEqual(backwards, ['11', '4', '3']);
});

test('finding events without a position stays cheap while an old snapshot is open', async () => {
  const connection = { connectionString: database.url };
  const { id: workspaceId } = await createWorkspace(database.db, { name: 'Backed up' });
  const events = (count: number) => Array.from({ length: count }, () => event(workspaceId));
  const single = openDatabase({ connection: () => connection, onError() {}, max: 1 });
  try {
    await withClient(connection, async (snapshot) => {
      await snapshot.query('begin isolation level repeatable read');
      await snapshot.query('select count(*) from events');
      const order = () => orderEvents(single.pool);
      const place = () =>
        single.db.transaction().execute(async (db) => {
          const placed = events(1);
          await placeEvents(db, placed);
          await insertAll(db, placed);
        });
      await insertAll(database.db, events(1000));
      while (await order());
      const index = 'events_written_in';
      // Once the current writers have ended, in any database of the server.
      await waitUntil(async () => (await countEntries(single.pool, { index, work: order })) < 50);
      await waitUntil(async () => (await countEntries(single.pool, { index, work: place })) < 50);
      const tail = await tailPosition(single.pool);
      await insertAll(database.db, events(3));
      await order();
      assert.equal(await tailPosition(single.pool), tail + 3);
    });
  } finally {
    await single.close();
  }
});

test('finds an event that commits late, however far the search has advanced meanwhile', async () => {
  const { db, pool } = database;
  const { id: workspaceId } = await createWorkspace(db, { name: 'Later' });
  await withClient({ connectionString: database.url }, async (slow) => {
    await slow.query('begin');
    await slow.query(
      "insert into events (workspace_id, id, type, envelope) values ($1, 'evt_late', 'vault.deactivated', '{}')",
      [workspaceId],
    );
    for (let round = 0; round < 3; round += 1) {
      await insertAll(db, [event(workspaceId)]);
      await orderEvents(pool);
    }
    await slow.query('commit');
  });
  await orderEvents(pool);
  const { position } = await db
    .selectFrom('placed_events')
    .select('position')
    .where('id', '=', 'evt_late')
    .executeTakeFirstOrThrow();
  assert.notEqual(position, null);
});
