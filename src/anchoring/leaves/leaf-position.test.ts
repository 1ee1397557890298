/** The search for new leaves: every leaf is in one batch, whenever and wherever it was committed, and a look stays cheap. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type pg from 'pg';
import { type Fixture, openFixture, type TestVault } from '../../../test/support/fixtures/batcher-fixture.ts';
import { withClient } from '../../../test/support/service/database.ts';
import { countEntries, endIdleConnections } from '../../../test/support/service/index-entries.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { loadKeccak } from '../../proof/keccak.ts';
import { runEach } from '../../runtime/check.ts';
import { readAnchoringStats } from '../anchoring-stats.ts';
import { batchContentFindings } from '../batching/batch-content.check.ts';
import { leavesPass } from '../batching/leaves.check.ts';

let fixture: Fixture;
let vault: TestVault;
/** A single connection, so that its statistics are complete when it reports them. */
let single: Database;
before(async () => {
  fixture = await openFixture({ fresh: true });
  single = openDatabase({ connection: () => ({ connectionString: fixture.url }), onError() {}, max: 1 });
});
after(async () => {
  await single.close();
  await fixture.close();
});
beforeEach(async () => {
  await fixture.clear();
  vault = await fixture.newVault();
});

/** In one transaction: a thing with copies of its leaf. */
async function acceptMany(name: string, count: number, of = vault): Promise<void> {
  await fixture.accept(of, `${name}.0`);
  await copyLeaf(fixture.pool, `${name}.0`, { name, count });
}

function copyLeaf(
  client: Pick<pg.Client, 'query'>,
  from: string,
  { name, count, first = 1 }: { name: string; count: number; first?: number },
): Promise<unknown> {
  return client.query(
    `insert into anchor_leaves (workspace_id, kind, subject_id, version, vault_id, digest, canonicalization, previous_leaf, claims,
       claims_hash, leaf)
     select workspace_id, kind, $2 || '.' || n, version, vault_id, digest, canonicalization, previous_leaf, claims, claims_hash,
            sha256(($2 || n)::bytea)
     from anchor_leaves cross join generate_series($4::integer, $4::integer + $3::integer - 2) as n where subject_id = $1`,
    [from, name, count, first],
  );
}

/** One transaction each, as in a cluster that is busy elsewhere. */
async function useNumbersUntil(last: number): Promise<void> {
  await fixture.pool.query(
    `do $$ begin while pg_current_xact_id()::text::bigint < ${last} loop commit; end loop; end $$`,
  );
}

async function batchAll(options: { maxLeaves?: number } = {}): Promise<void> {
  const batcher = fixture.batcher(options);
  while (await batcher.step(fixture.lead));
}

async function unplaced(): Promise<string[]> {
  return (await fixture.leaves()).flatMap(({ subject_id, batch_id }) =>
    batch_id === null ? subject_id : [],
  );
}

/** Every leaf is in one batch, at the place that the batch has it at, and nothing waits. */
async function assertSound(): Promise<void> {
  const [report] = await runEach([{ name: 'leaves', passes: [leavesPass(fixture.db)] }], { settleMs: 0 });
  const about = (rule: string) => !['leaf_changed', 'leaf_without_vault'].includes(rule);
  assert.deepEqual([report?.findings.filter(({ rule }) => about(rule)), report?.skipped], [[], []]);
  const batches = await fixture.batches();
  const keccak = await loadKeccak();
  for (const batch of batches) assert.deepEqual(await batchContentFindings(fixture.db, batch, keccak), []);
  const { rows } = await fixture.pool.query(
    `select (select count(*) from anchor_leaves)::integer as leaves, (select count(*) from anchor_waiting)::integer as waiting,
            (select coalesce(sum(size), 0) from anchor_batches)::integer as batched`,
  );
  assert.deepEqual(await unplaced(), []);
  assert.deepEqual(rows[0], { leaves: rows[0].leaves, waiting: 0, batched: rows[0].leaves });
  assert.equal((await readAnchoringStats(fixture.db)).pendingLeaves, 0);
}

test('batches many leaves at once, in rows of a bounded size', async () => {
  const other = await fixture.newVault();
  for (const [round, count] of [700, 3, 1].entries()) {
    await acceptMany(`a${round}`, count, round === 1 ? other : vault);
    await acceptMany(`b${round}`, count, other);
    await batchAll();
  }
  await assertSound();
  const { rows } = await fixture.pool.query(
    'select max(cardinality(places)) as longest, count(*)::integer as rows from anchor_places',
  );
  assert.equal(rows[0].longest, 256);
  assert.ok(rows[0].rows <= 3 + 1408 / 256 + 3, `${rows[0].rows} rows`);
});

test('leaves of one transaction go into several batches if they are too many for one', async () => {
  await acceptMany('a', 20);
  await batchAll({ maxLeaves: 8 });
  assert.deepEqual(
    (await fixture.batches()).map(({ size }) => size),
    [8, 8, 4],
  );
  await assertSound();
});

test('leaves that wait are not forgotten: they come before new ones, and pending ones are counted', async () => {
  const bad = await fixture.newVault('ws_bad');
  await acceptMany('bad', 5, bad);
  await acceptMany('good', 5);
  const hide = (from: string, to: string) =>
    fixture.pool.query('update vaults set workspace_id = $2 where workspace_id = $1', [from, to]);
  await fixture.newVault('ws_gone');
  await hide('ws_bad', 'ws_gone');
  const batcher = fixture.batcher({ maxLeaves: 100 });
  await batcher.step(fixture.lead);
  assert.deepEqual((await unplaced()).length, 5);
  assert.equal((await readAnchoringStats(fixture.db)).pendingLeaves, 5);
  await acceptMany('new', 4);
  assert.equal((await readAnchoringStats(fixture.db)).pendingLeaves, 9);
  await hide('ws_gone', 'ws_bad');
  // Another batcher, which has not seen the fault; room for some of them only.
  await fixture.batcher({ maxLeaves: 6 }).step(fixture.lead);
  assert.deepEqual((await unplaced()).sort(), ['new.1', 'new.2', 'new.3']);
  await batchAll();
  await assertSound();
});

test('a leaf whose transaction ends late comes with the next batch, and keeps no other waiting', async () => {
  // Of another workspace: leaves of one workspace may update the same budget row and wait for each other.
  await fixture.accept(await fixture.newVault('ws_late'), 'before');
  await batchAll();
  await withClient({ connectionString: fixture.url }, async (client) => {
    await client.query('begin');
    await copyLeaf(client, 'before', { name: 'late', count: 3 });
    for (const round of ['a', 'b', 'c', 'd']) {
      await acceptMany(round, 30);
      await batchAll({ maxLeaves: 7 });
    }
    assert.deepEqual(await unplaced(), []);
    await client.query('commit');
    assert.deepEqual((await unplaced()).sort(), ['late.1', 'late.2']);
    await batchAll();
  });
  await assertSound();
});

test('a leaf of an aborted transaction is not waited for', async () => {
  await fixture.accept(await fixture.newVault('ws_late'), 'before');
  await withClient({ connectionString: fixture.url }, async (client) => {
    await client.query('begin');
    await copyLeaf(client, 'before', { name: 'late', count: 3 });
    await batchAll();
    await client.query('rollback');
  });
  await acceptMany('a', 2);
  await batchAll();
  await assertSound();
});

test('batchers that work at the same time, while others write, batch each leaf once', async () => {
  let writing = true;
  const node = async () => {
    while (writing) {
      // As a leader that is about to be replaced: it may fail, but must not batch twice.
      const batcher = fixture.batcher({ maxLeaves: 7 });
      await batcher.step(fixture.lead).catch((error) => {
        assert.match(String(error), /meanwhile|duplicate key/);
      });
    }
  };
  const nodes = [node(), node()];
  await Promise.all(
    Array.from({ length: 3 }, async (_, writer) => {
      for (let round = 0; round < 8; round += 1) await acceptMany(`w${writer}.${round}`, 1 + (round % 4));
    }),
  );
  writing = false;
  await Promise.all(nodes);
  await batchAll();
  await assertSound();
});

test('a batch that does not reach its end has done nothing', async (t) => {
  const bad = await fixture.newVault('ws_bad');
  await fixture.pool.query("delete from vaults where workspace_id = 'ws_bad'");
  for (const table of [
    'anchor_positions',
    'anchor_waiting',
    'anchor_places',
    'anchor_subtrees',
    'anchor_batches',
  ]) {
    await acceptMany(`${table}.bad`, 2, bad);
    await acceptMany(table, 3);
    // After the row is in, as if the process was killed then.
    await fixture.pool.query(`
      create or replace function die() returns trigger language plpgsql as $$ begin raise exception 'killed'; end $$;
      create trigger die after insert on ${table} execute function die()`);
    t.after(() => fixture.pool.query(`drop trigger if exists die on ${table}`));
    await assert.rejects(fixture.batcher().step(fixture.lead), /killed/);
    await fixture.pool.query(`drop trigger die on ${table}`);
    await batchAll();
    assert.ok((await unplaced()).every((subject) => subject.includes('.bad')));
  }
  const { rows } = await fixture.pool.query('select count(*)::integer as waiting from anchor_waiting');
  assert.equal(rows[0].waiting, 10);
  await fixture.pool.query(
    "delete from anchor_leaves where workspace_id = 'ws_bad'; delete from anchor_waiting",
  );
  await assertSound();
});

test('leaves that were copied from another cluster are found, whatever its transactions were numbered', async () => {
  await acceptMany('old', 5);
  await batchAll();
  const { rows } = await fixture.pool.query('select pg_current_xact_id()::text::bigint as now');
  const { now } = rows[0];
  // Not batched when they were copied; half of them have numbers that are still to come here, also where the tests beside this one
  // use up thousands.
  await acceptMany('copied', 120);
  const ahead = 10_000;
  await fixture.pool.query(
    `update anchor_leaves set written_in = $1::bigint + (id % 120 - 60) * 2 + case when id % 120 > 60 then $2::bigint else 0 end
     where subject_id like 'copied.%' or subject_id = 'old.1'`,
    [now, ahead],
  );
  await fixture.pool.query(`update anchor_positions set cluster = 1, seen = '${now * 2}:${now * 2}:'`);
  assert.equal((await readAnchoringStats(fixture.db)).pendingLeaves, 120);
  // New ones are batched beside the walk through all.
  const batcher = fixture.batcher({ maxLeaves: 10, walkLimit: 4 });
  await batcher.step(fixture.lead);
  await acceptMany('new', 5);
  await batcher.step(fixture.lead);
  assert.deepEqual(
    (await unplaced()).filter((subject) => subject.startsWith('new')),
    [],
  );
  while (await batcher.step(fixture.lead));
  await assertSound();
  await useNumbersUntil(Number(now) + ahead - 10);
  // The numbers of the copied leaves are reached here.
  for (let round = 0; round < 150; round += 1) {
    await fixture.pool.query('select pg_current_xact_id()');
    if (round % 10 === 0) await acceptMany(`later${round}`, 1);
    if (round % 15 === 0) await batchAll({ maxLeaves: 4 });
  }
  await batchAll({ maxLeaves: 4 });
  await assertSound();
});

test('a position that is ahead of the cluster, or lost, makes it look at all leaves', async () => {
  await acceptMany('a', 3);
  for (const [round, change] of [
    `update anchor_positions set seen = '900000000000:900000000000:'`,
    'delete from anchor_positions',
  ].entries()) {
    await batchAll();
    await acceptMany(`b${round}`, 3);
    await fixture.pool.query(change);
    const batcher = fixture.batcher({ maxLeaves: 2, walkLimit: 2 });
    while (await batcher.step(fixture.lead));
  }
  await assertSound();
});

test('a look through all leaves comes to its end, however many new ones come meanwhile', async () => {
  await acceptMany('old', 20);
  await batchAll();
  await fixture.pool.query('delete from anchor_positions');
  const batcher = fixture.batcher({ walkLimit: 4 });
  const rounds: boolean[] = [];
  for (let round = 0; round < 8; round += 1) {
    await acceptMany(`new${round}`, 6);
    rounds.push(await batcher.step(fixture.lead));
  }
  // 26 leaves were there at first, and four of them are looked through at a time.
  assert.deepEqual(rounds, [true, true, true, true, true, true, false, false]);
  await assertSound();
});

for (const [what, hold] of [
  ['an old snapshot', 'select count(*) from anchor_leaves'],
  ['a writing transaction', 'select pg_current_xact_id()'],
] as const) {
  test(`finding pending leaves stays cheap while ${what} is open`, async () => {
    await withClient({ connectionString: fixture.url }, async (other) => {
      await other.query('begin isolation level repeatable read');
      await other.query(hold);
      const batcher = fixture.batcher({ db: single.db });
      for (const round of ['a', 'b', 'c']) {
        await acceptMany(round, 500);
        await batcher.step(fixture.lead);
      }
      await endIdleConnections(single.pool);
      const look = { index: 'anchor_leaves_written_in', work: () => batcher.step(fixture.lead) };
      assert.ok((await countEntries(single.pool, look)) < 50);
      await acceptMany('d', 3);
      assert.ok((await countEntries(single.pool, look)) < 50);
    });
    await assertSound();
  });
}
