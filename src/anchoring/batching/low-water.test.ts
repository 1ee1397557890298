/** The low-water mark of pending leaves: claims stay cheap, and no late leaf is missed. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { type Fixture, openFixture, type TestVault } from '../../../test/support/fixtures/batcher-fixture.ts';
import { countEntries } from '../../../test/support/service/index-entries.ts';
import { waitUntil } from '../../../test/support/service/process.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { createLowWater } from './low-water.ts';

let fixture: Fixture;
let vault: TestVault;
/** A single connection, so that its statistics are complete when it reports them. */
let single: Database;
before(async () => {
  fixture = await openFixture();
  vault = await fixture.newVault();
  single = openDatabase({ connection: () => ({ connectionString: fixture.url }), onError() {}, max: 1 });
});
after(async () => {
  await single.close();
  await fixture.close();
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: fixture.url });
  await client.connect();
  return client;
}

/** Accepts one thing, and inserts copies of its leaf. */
async function acceptMany(name: string, count: number): Promise<void> {
  await fixture.accept(vault, name);
  await fixture.pool.query(
    `insert into anchor_leaves (workspace_id, kind, subject_id, version, vault_id, digest, canonicalization, previous_leaf, claims,
       claims_hash, leaf)
     select workspace_id, kind, subject_id || '.' || n, version, vault_id, digest, canonicalization, previous_leaf, claims, claims_hash,
            sha256((subject_id || n)::bytea)
     from anchor_leaves cross join generate_series(2, $2::integer) as n where subject_id = $1`,
    [name, count],
  );
}

test('finding pending leaves stays cheap while an old snapshot is open', async () => {
  const snapshot = await connect();
  await snapshot.query('begin isolation level repeatable read');
  await snapshot.query('select count(*) from anchor_leaves');
  try {
    const batcher = fixture.batcher({ db: single.db });
    for (const round of ['a', 'b', 'c']) {
      await acceptMany(round, 500);
      await batcher.step(fixture.lead);
    }
    const look = { index: 'anchor_leaves_pending', work: () => batcher.step(fixture.lead) };
    // Succeeds once all transactions that write now, in any database of the server, have ended.
    await waitUntil(async () => (await countEntries(single.pool, look)) < 50);
    await acceptMany('d', 3);
    await batcher.step(fixture.lead);
    const { rows } = await fixture.pool.query(
      'select count(*)::integer as left from anchor_leaves where batch_id is null',
    );
    assert.equal(rows[0].left, 0);
  } finally {
    await snapshot.end();
  }
});

test('batches a leaf that commits after others with higher ids with the next claim', async () => {
  const batcher = fixture.batcher();
  const late = await connect();
  try {
    await acceptMany('e', 5);
    // Of another workspace: leaves of one workspace may update the same budget row and wait for each other.
    await fixture.accept(await fixture.newVault('ws_late'), 'before');
    await batcher.step(fixture.lead);
    await late.query('begin');
    await late.query(
      `insert into anchor_leaves (workspace_id, kind, subject_id, version, vault_id, digest, canonicalization, previous_leaf, claims,
       claims_hash, leaf)
       select workspace_id, kind, 'late', version, vault_id, digest, canonicalization, previous_leaf, claims, claims_hash, sha256('late')
       from anchor_leaves where subject_id = 'before'`,
    );
    for (const round of ['f', 'g', 'h', 'i']) {
      await acceptMany(round, 5);
      await batcher.step(fixture.lead);
    }
    await late.query('commit');
    await batcher.step(fixture.lead);
    const { rows } = await fixture.pool.query("select batch_id from anchor_leaves where subject_id = 'late'");
    assert.notEqual(rows[0].batch_id, null);
  } finally {
    await late.end();
  }
});

test('the mark stops at a leaf that waits for its vault, and moves on once that is batched', async () => {
  const lowWater = createLowWater();
  await acceptMany('j', 2);
  const { rows } = await fixture.pool.query(
    'select min(id) as lowest from anchor_leaves where batch_id is null',
  );
  await waitUntil(async () => (await lowWater.find(fixture.db)) === rows[0].lowest - 1);
  for (let look = 0; look < 3; look += 1) assert.equal(await lowWater.find(fixture.db), rows[0].lowest - 1);
  await fixture.batcher().step(fixture.lead);
  await waitUntil(async () => (await lowWater.find(fixture.db)) > rows[0].lowest);
});
