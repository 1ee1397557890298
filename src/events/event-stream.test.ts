/** Streams and the watcher they share, with short intervals. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Pool } from 'pg';
import { openTestDatabase } from '../../test/support/service/database.ts';
import { waitUntil } from '../../test/support/service/process.ts';
import { createWorkspace } from '../access/workspaces/workspaces.ts';
import type { Database } from '../db/database.ts';
import { insertAll } from '../db/writes.ts';
import { createWakeup } from '../runtime/loop.ts';
import { orderEvents } from './event-order.ts';
import { createEventStreams, type StreamRequest } from './event-stream.ts';
import { eventWrite } from './events.ts';
import { tailPosition } from './feed.ts';
import { createFeedWatcher } from './feed-watcher.ts';

let database: Database;
let workspaceId: string;
let otherId: string;
before(async () => {
  database = await openTestDatabase();
  workspaceId = (await createWorkspace(database.db, { name: 'Watched' })).id;
  otherId = (await createWorkspace(database.db, { name: 'Other' })).id;
});
after(() => database.close());

async function makeEvent(workspaceId: string): Promise<void> {
  const data = { vault_id: 'vlt_1', address: '0x', deactivated_at: '' };
  await insertAll(database.db, [
    eventWrite({ workspaceId, type: 'vault.deactivated', at: new Date(), data }),
  ]);
  await orderEvents(database.pool);
}

/** Wraps the pool and records its queries. */
function countingPool() {
  /** The position that each query of the watcher started from. */
  const looks: number[] = [];
  const reads = { asked: 0, answered: 0 };
  const query = async (statement: string | { name: string; values: [number] }) => {
    const name = typeof statement === 'string' ? '' : statement.name;
    if (typeof statement !== 'string' && name === 'feed-growth') looks.push(statement.values[0]);
    if (name === 'event-feed') reads.asked += 1;
    const answer = await database.pool.query(statement as string);
    if (name === 'event-feed') reads.answered += 1;
    return answer;
  };
  return { pool: { query } as unknown as Pool, looks, reads };
}

function requestOf(workspaceId: string, change: Partial<StreamRequest> = {}): StreamRequest {
  return {
    workspaceId,
    most: null,
    type: undefined,
    after: null,
    toId: String,
    mayGoOn: async () => true,
    cutIfStalled() {},
    ...change,
  };
}

test('an idle stream sends a comment now and then, with the position that it has reached', async () => {
  const { pool } = database;
  const watcher = createFeedWatcher({ pool, wakeup: createWakeup() });
  const streams = createEventStreams({ pool, watcher, heartbeatMs: 30 });
  const stream = await streams.open(requestOf(workspaceId, { type: 'vault.reactivated' }));
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  await waitUntil(() => (text.match(/^:$/gm) ?? []).length >= 3);
  assert.doesNotMatch(text, /data:/);
  await makeEvent(workspaceId);
  const tail = (await database.pool.query('select max(position) as tail from placed_events')).rows[0].tail;
  await waitUntil(() => text.endsWith(`:\nid: ${tail}\n\n`));
  assert.doesNotMatch(text, /data:/, 'an event of another type only moves the position');
  streams.close();
  await new Promise((resolve) => stream.on('close', resolve));
});

test('streams share one query, read only on news of their workspace, and the last one ends it', async (t) => {
  const { pool, looks, reads } = countingPool();
  const wakeup = createWakeup();
  const streams = createEventStreams({ pool, watcher: createFeedWatcher({ pool, wakeup }) });
  const open = await Promise.all(
    [workspaceId, workspaceId, workspaceId, otherId].map((id) => streams.open(requestOf(id))),
  );
  t.after(() => {
    for (const stream of open) stream.destroy();
  });
  const seen = open.map(() => 0);
  for (const [turn, stream] of open.entries())
    stream.setEncoding('utf8').on('data', (text: string) => {
      seen[turn] = (seen[turn] ?? 0) + (text.match(/^data: /gm) ?? []).length;
    });
  // After the first query of the watcher each stream reads once more; after that none reads without news.
  await waitUntil(() => looks.length >= 2 && reads.asked === reads.answered);
  const settled = reads.asked;
  for (let round = 1; round <= 3; round += 1) {
    await makeEvent(workspaceId);
    wakeup.wake();
    await waitUntil(() => seen.slice(0, 3).every((count) => count === round));
  }
  assert.equal(seen[3], 0);
  assert.equal(reads.asked - settled, 3 * 3);
  for (const stream of open) stream.destroy();
  const before = looks.length;
  await makeEvent(workspaceId);
  const tail = await tailPosition(database.pool);
  // A watcher left over would wake up here, and query from its old position.
  wakeup.wake();
  const last = await streams.open(requestOf(otherId));
  last.resume();
  await waitUntil(() => looks.length > before);
  last.destroy();
  const since = looks.slice(before);
  assert.deepEqual(
    since,
    since.map(() => tail),
    'the next stream starts a new watcher, and the old one is gone',
  );
});

test('does not miss an event that is placed between the first read and the first query', async () => {
  const { pool } = database;
  const paused = Promise.withResolvers<void>();
  let reads = 0;
  // Holds back the watcher's first query until the stream has read and an event has been placed after that.
  const held = {
    async query(statement: string | object) {
      if (typeof statement === 'string') await paused.promise;
      const answer = await pool.query(statement as string);
      if (typeof statement !== 'string') reads += 1;
      return answer;
    },
  } as unknown as Pool;
  const streams = createEventStreams({
    pool: held,
    watcher: createFeedWatcher({ pool: held, wakeup: createWakeup() }),
  });
  const stream = await streams.open(requestOf(workspaceId, { after: await tailPosition(pool) }));
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  await waitUntil(() => reads === 1);
  await makeEvent(workspaceId);
  paused.resolve();
  await waitUntil(() => text.includes('data: '));
  stream.destroy();
});

test('a stream ends when its key is no longer valid, but not when that check fails', async () => {
  const { pool } = database;
  const streams = createEventStreams({
    pool,
    watcher: createFeedWatcher({ pool, wakeup: createWakeup() }),
    checkEveryMs: 10,
  });
  const answers: (boolean | Error)[] = [true, new Error('the database is away'), true, false];
  let asked = 0;
  const mayGoOn = async () => {
    const answer = answers[asked] ?? false;
    asked += 1;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const stream = await streams.open(requestOf(workspaceId, { mayGoOn }));
  stream.resume();
  await new Promise((resolve) => stream.on('end', resolve));
  assert.ok(asked >= answers.length, 'it ended before the key was no longer good');
});

test('closing a stream does not wait for a read, and its last id resumes before what was being read', async () => {
  const { pool } = database;
  await makeEvent(workspaceId);
  const released = Promise.withResolvers<void>();
  let reading = false;
  const held = {
    async query(statement: string | { name: string }) {
      if (typeof statement !== 'string' && statement.name === 'event-feed') {
        reading = true;
        await released.promise;
      }
      return pool.query(statement as string);
    },
  } as unknown as Pool;
  const streams = createEventStreams({
    pool: held,
    watcher: createFeedWatcher({ pool, wakeup: createWakeup() }),
  });
  const allowances: number[] = [];
  const cutIfStalled = (ms: number) => void allowances.push(ms);
  const stream = await streams.open(requestOf(workspaceId, { after: 0, cutIfStalled }));
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  const ended = new Promise((resolve) => stream.on('end', resolve));
  await waitUntil(() => reading);
  streams.close();
  await ended;
  assert.match(text, /^: .+\nretry: \d+\nid: 0\n\n$/);
  assert.equal(allowances.length, 1);
  released.resolve();
});

test('closing refuses new streams, and those that are just being opened', async () => {
  const { pool } = database;
  const streams = createEventStreams({ pool, watcher: createFeedWatcher({ pool, wakeup: createWakeup() }) });
  const opening = streams.open(requestOf(workspaceId));
  streams.close();
  await assert.rejects(opening, { code: 'service_unavailable' });
  await assert.rejects(streams.open(requestOf(workspaceId, { after: 0 })), { code: 'service_unavailable' });
});
