import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase, withClient } from '../../test/database.ts';
import { createWorkspace } from '../auth/workspaces.ts';
import { insertAll, type Write } from '../db/writes.ts';
import { eventWrite, orderEvents, placeEvents, readFeed, tailPosition } from './events.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase();
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
  const read = async (after: number) => readFeed(pool, { workspaceId, type: undefined, after, limit: 100 });

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
    await orderEvents(db);
    const first = await read(0);
    assert.equal(first.length, 1);
    await slow.query('commit');
    await orderEvents(db);
    const second = await read(first[0]?.position ?? 0);
    assert.deepEqual(
      second.map(({ envelope }) => envelope),
      [row.envelope],
    );
  });
});

test('events that are placed with their insert need no second write, and follow on what is there', async () => {
  const { db, pool } = database;
  const { id: workspaceId } = await createWorkspace(db, { name: 'At once' });
  await insertAll(db, [event(workspaceId)]);
  await orderEvents(db);
  const tail = await tailPosition(pool);
  const events = [event(workspaceId), event(workspaceId)];
  await db.transaction().execute(async (db) => {
    await placeEvents(db, events);
    await insertAll(db, events);
  });
  const placed = await readFeed(pool, { workspaceId, type: undefined, after: tail, limit: 10 });
  assert.deepEqual(
    placed.map(({ position }) => position),
    [tail + 1, tail + 2],
  );
});

test('an event that waits for its position is not overtaken by one that comes with its own', async () => {
  const { db, pool } = database;
  const { id: workspaceId } = await createWorkspace(db, { name: 'Behind' });
  const [first, second] = [event(workspaceId), event(workspaceId)];
  await insertAll(db, [first]);
  const tail = await tailPosition(pool);
  await db.transaction().execute(async (db) => {
    await placeEvents(db, [second]);
    await insertAll(db, [second]);
  });
  await orderEvents(db);
  const read = await readFeed(pool, { workspaceId, type: undefined, after: tail, limit: 10 });
  const envelopeOf = ({ row }: Write) => (row as { envelope: string }).envelope;
  assert.deepEqual(
    read.map(({ envelope }) => envelope),
    [envelopeOf(first), envelopeOf(second)],
  );
});

test('events of many writers are read exactly once by a poller that runs meanwhile', async () => {
  const { db, pool } = database;
  const { id: workspaceId } = await createWorkspace(db, { name: 'Busy' });
  let writing = true;
  const writers = Promise.all(
    Array.from({ length: 8 }, async (_, writer) => {
      for (let count = 0; count < 40; count += 1)
        await db.transaction().execute(async (db) => {
          const events = [event(workspaceId), event(workspaceId)];
          // Some give their positions themselves, unless somebody is at it.
          if (writer % 2 === 0) await placeEvents(db, events);
          await insertAll(db, events);
        });
    }),
  ).then(() => (writing = false));
  const seen: string[] = [];
  let position = 0;
  for (let idle = 0; idle < 2; ) {
    await Promise.all([orderEvents(db, 50), orderEvents(db, 50)]);
    const items = await readFeed(pool, { workspaceId, type: undefined, after: position, limit: 37 });
    seen.push(...items.map(({ envelope }) => JSON.parse(envelope).id));
    position = items.at(-1)?.position ?? position;
    idle = items.length === 0 && !writing ? idle + 1 : 0;
  }
  await writers;
  assert.equal(seen.length, 640);
  assert.equal(new Set(seen).size, 640);
});
