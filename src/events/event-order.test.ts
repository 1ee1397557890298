/** The order of the feed: every event is in it once, whenever and wherever it was committed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase, withClient } from '../../test/support/service/database.ts';
import { createWorkspace } from '../access/workspaces/workspaces.ts';
import { insertAll, type Write } from '../db/writes.ts';
import { runEach } from '../runtime/check.ts';
import { orderEvents, placeEvents } from './event-order.ts';
import { segmentsPass } from './event-segments.check.ts';
import { eventWrite } from './events.ts';
import { readFeed, readFeedBackwards, tailPosition } from './feed.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

let workspaces = 0;
async function newWorkspace(): Promise<string> {
  workspaces += 1;
  return (await createWorkspace(database.db, { name: `Workspace ${workspaces}` })).id;
}

type EventRow = Extract<Write, { table: 'events' }>['row'];

function newEvents(workspaceId: string, count: number): Extract<Write, { table: 'events' }>[] {
  return Array.from({ length: count }, (_, place) => {
    const at = new Date();
    const data = { vault_id: `vlt_${place}`, address: '0x' };
    const write =
      place % 10 === 3
        ? eventWrite({
            workspaceId,
            type: 'vault.reactivated',
            at,
            data: { ...data, reactivated_at: at.toISOString() },
          })
        : eventWrite({
            workspaceId,
            type: 'vault.deactivated',
            at,
            data: { ...data, deactivated_at: at.toISOString() },
          });
    return write as Extract<Write, { table: 'events' }>;
  });
}

const write = (workspaceId: string, count: number) => insertAll(database.db, newEvents(workspaceId, count));

async function orderAll(options: { limit?: number } = {}): Promise<void> {
  while (await orderEvents(database.pool, options));
}

async function readAll(workspaceId: string, type?: string): Promise<string[]> {
  const ids: string[] = [];
  for (let [after, ended] = [0, false]; !ended; ) {
    const page = await readFeed(database.pool, { workspaceId, type, after, limit: 7 }, 3);
    ids.push(...page.items.map(({ envelope }) => JSON.parse(envelope).id));
    assert.ok(page.ended || page.upTo > after, 'the reader gets on');
    ({ upTo: after, ended } = page);
  }
  return ids;
}

/** Every event has one position, and there is no gap. */
async function assertSound(): Promise<void> {
  const [report] = await runEach([{ name: 'feed', passes: [segmentsPass(database.db)] }], { settleMs: 0 });
  assert.deepEqual([report?.findings, report?.skipped], [[], []]);
  const { rows } = await database.pool.query(
    `select count(*) as events, count(position) as placed, count(distinct position) as positions,
            (select coalesce(max(last_position), 0) from event_segments) as tail from placed_events`,
  );
  const [{ events, placed, positions, tail }] = rows;
  assert.deepEqual([placed, positions, tail], [events, events, events]);
}

test('orders the events of several workspaces, in segments of a bounded size, however they are split into rounds', async () => {
  const two = [await newWorkspace(), await newWorkspace()];
  const written = new Map<string, string[]>(two.map((id) => [id, []]));
  for (const count of [1, 150, 3, 64, 65]) {
    for (const id of two) {
      const events = newEvents(id, count);
      await insertAll(database.db, events);
      written.get(id)?.push(...events.map(({ row }) => row.id));
    }
    await orderAll({ limit: 40 });
  }
  for (const id of two) assert.deepEqual(await readAll(id), written.get(id));
  await assertSound();
});

test('finds all events of a type in both directions, and reads from the middle of a segment', async () => {
  const { pool } = database;
  const id = await newWorkspace();
  const events = newEvents(id, 200);
  await insertAll(database.db, events);
  await orderAll();
  const wanted = events.map(({ row }) => row).filter(({ type }) => type === 'vault.reactivated');
  assert.deepEqual(
    await readAll(id, 'vault.reactivated'),
    wanted.map(({ id }) => id),
  );
  assert.deepEqual(await readAll(id, 'asset.changed'), []);
  const tail = await tailPosition(pool);
  for (const type of [undefined, 'vault.reactivated']) {
    const all = type === undefined ? events.map(({ row }) => row) : wanted;
    const backwards: EventRow['id'][] = [];
    for (let before: number | undefined; ; ) {
      const items = await readFeedBackwards(pool, { workspaceId: id, type, before, end: 0, limit: 9 });
      backwards.push(...items.map(({ envelope }) => JSON.parse(envelope).id));
      const last = items.at(-1);
      if (!last) break;
      before = last.position;
    }
    assert.deepEqual(
      backwards.reverse(),
      all.map(({ id }) => id),
    );
    const end = tail - 100;
    const cut = await readFeedBackwards(pool, { workspaceId: id, type, before: tail, end, limit: 1000 });
    assert.equal(cut.length, type === undefined ? 100 : 10);
    assert.ok(cut.every(({ position }) => position >= end && position < tail));
  }
});

test('an event whose transaction ends late comes later in the feed, and keeps no other waiting', async () => {
  const id = await newWorkspace();
  await withClient({ connectionString: database.url }, async (client) => {
    await client.query('begin');
    const [late] = newEvents(id, 1) as [ReturnType<typeof newEvents>[number]];
    const { workspace_id, id: eventId, type, envelope } = late.row;
    await client.query('insert into events (workspace_id, id, type, envelope) values ($1, $2, $3, $4)', [
      ...[workspace_id, eventId, type, envelope],
    ]);
    for (let round = 0; round < 5; round += 1) {
      await write(id, 30);
      await orderAll({ limit: 10 });
    }
    assert.equal((await readAll(id)).length, 150);
    await client.query('commit');
    await orderAll();
    const ids = await readAll(id);
    assert.deepEqual([ids.length, ids.at(-1)], [151, eventId]);
  });
  await assertSound();
});

test('two nodes that order by turns, while others write and place, order each event once', async () => {
  const id = await newWorkspace();
  let writing = true;
  const node = async () => {
    while (writing) await orderEvents(database.pool, { limit: 7 });
  };
  const nodes = [node(), node()];
  await Promise.all(
    Array.from({ length: 4 }, async (_, writer) => {
      for (let round = 0; round < 25; round += 1) {
        await database.db.transaction().execute(async (db) => {
          const events: Write[] = newEvents(id, 1 + (round % 4));
          if (writer === 0) await placeEvents(db, events);
          await insertAll(db, events);
        });
      }
    }),
  );
  writing = false;
  await Promise.all(nodes);
  await orderAll();
  assert.equal((await readAll(id)).length, 4 * 61);
  await assertSound();
});

test('a round that does not reach its end has done nothing', async (t) => {
  const id = await newWorkspace();
  await orderAll();
  for (const table of ['event_segments', 'event_positions']) {
    await write(id, 3);
    // After the row is in, as if the process was killed then.
    await database.pool.query(`
      create or replace function die() returns trigger language plpgsql as $$ begin raise exception 'killed'; end $$;
      create trigger die after insert on ${table} execute function die()`);
    t.after(() => database.pool.query(`drop trigger if exists die on ${table}`));
    await assert.rejects(orderEvents(database.pool), /killed/);
    await database.pool.query(`drop trigger die on ${table}`);
    await orderAll();
  }
  assert.equal((await readAll(id)).length, 6);
  await assertSound();
});

test('events that were copied from another cluster are found, whatever its transactions were numbered', async () => {
  const id = await newWorkspace();
  await write(id, 5);
  await orderAll();
  const { rows } = await database.pool.query('select pg_current_xact_id()::text::bigint as now');
  // Not placed when they were copied; among them numbers that are still to come here.
  const copied = newEvents(id, 120);
  for (const [place, { row }] of copied.entries()) row.written_in = rows[0].now + (place - 60) * 2;
  await insertAll(database.db, copied);
  await database.pool.query(
    `update event_positions set cluster = 1, seen = '${rows[0].now * 2}:${rows[0].now * 2}:'`,
  );
  await write(id, 5);
  // New ones are placed beside the walk through all.
  await orderEvents(database.pool, { limit: 4 });
  await write(id, 1);
  await orderAll({ limit: 4 });
  assert.equal((await readAll(id)).length, 5 + 120 + 5 + 1);
  // The numbers of the copied events are reached here.
  for (let round = 0; round < 150; round += 1) {
    await database.pool.query('select pg_current_xact_id()');
    if (round % 10 === 0) await write(id, 1);
    if (round % 15 === 0) await orderAll({ limit: 4 });
  }
  await orderAll({ limit: 4 });
  assert.equal((await readAll(id)).length, 131 + 15);
  await assertSound();
});

test('a position that is ahead of the cluster, or lost, makes it look at all events, while others write', async () => {
  const id = await newWorkspace();
  await write(id, 3);
  for (const change of [
    `update event_positions set seen = '900000000000:900000000000:'`,
    'delete from event_positions',
  ]) {
    await orderAll();
    await database.pool.query(change);
    const writer = (async () => {
      for (let round = 0; round < 30; round += 1) await write(id, 3);
    })();
    await orderAll({ limit: 50 });
    await writer;
  }
  await orderAll();
  await assertSound();
});
