/** The chain of the audit log: every entry is in it once, whenever and wherever it was committed. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { openTestDatabase, withClient } from '../../../test/support/service/database.ts';
import { countEntries, endIdleConnections } from '../../../test/support/service/index-entries.ts';
import { type Db, openDatabase } from '../../db/database.ts';
import { insertAll } from '../../db/writes.ts';
import { runEach } from '../../runtime/check.ts';
import { createWorkspace, operatorIn } from '../workspaces/workspaces.ts';
import { auditCheck } from './audit.check.ts';
import { type AuditEntry, auditWrite, entryDigest, listAuditEntries } from './audit.ts';
import { chainAuditEntries } from './audit-chain.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase({ fresh: true });
});
after(() => database.close());

let workspaces = 0;
async function newWorkspace(): Promise<string> {
  workspaces += 1;
  return (await createWorkspace(database.db, { name: `Workspace ${workspaces}` })).id;
}

function newEntries(workspaceId: string, count: number) {
  return Array.from({ length: count }, (_, place) =>
    auditWrite(
      { ...operatorIn(workspaceId), requestId: 'r' },
      { action: 'vault.update', targetId: `t${place}`, details: { b: 1, aa: [place, 'é'] } },
    ),
  );
}

const write = (workspaceId: string, count: number) => insertAll(database.db, newEntries(workspaceId, count));

async function chainAll(options: { limit?: number } = {}): Promise<void> {
  while (await chainAuditEntries(database.db, options));
}

/** All entries, which must be chained without a break; computed as docs/audit-log.md describes it. */
async function readChain(workspaceId: string): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for (let before: string | undefined; ; before = entries.at(-1)?.id) {
    const page = await listAuditEntries(database.db, { workspaceId, before, limit: 1000 });
    if (page.length === 0) break;
    entries.push(...page);
  }
  entries.sort((one, other) => (one.sequence ?? 0) - (other.sequence ?? 0));
  let previous = Buffer.alloc(32);
  for (const [place, entry] of entries.entries()) {
    const { id, workspaceId: workspace_id, at, action, targetId, requestId, details, actor } = entry;
    const digest = entryDigest({
      ...{ workspace_id, id, at, action, details },
      ...{ actor_kind: actor.kind, actor_id: actor.id, target_id: targetId, request_id: requestId },
    });
    previous = createHash('sha256').update(previous).update(digest).digest();
    assert.deepEqual([entry.sequence, entry.hash], [place + 1, previous.toString('hex')]);
  }
  return entries;
}

async function assertSound(db: Db = database.db): Promise<void> {
  const [report] = await runEach([auditCheck(db)], { settleMs: 0 });
  assert.deepEqual([report?.findings, report?.skipped], [[], []]);
  const { rows } = await database.pool.query(
    'select (select count(*) from audit_entries) as entries, (select sum(count) from audit_segments)::bigint as chained',
  );
  assert.equal(rows[0].entries, rows[0].chained);
}

test('chains the entries of each workspace without a break, however they are split into rounds', async () => {
  const two = [await newWorkspace(), await newWorkspace()];
  for (let round = 0; round < 10; round += 1) {
    for (const id of two) await write(id, 1);
    await chainAll({ limit: 3 });
  }
  // Two nodes at once: the second does nothing.
  await Promise.all([chainAuditEntries(database.db), chainAuditEntries(database.db)]);
  for (const id of two) assert.equal((await readChain(id)).length, 11);
  await assertSound();
});

test('chains many entries at once, in segments of a bounded size', async () => {
  const id = await newWorkspace();
  for (const count of [250, 99, 1, 1]) await write(id, count);
  await chainAll({ limit: 120 });
  assert.equal((await readChain(id)).length, 1 + 351);
  const { rows } = await database.pool.query('select max(count) as most from audit_segments');
  assert.equal(rows[0].most, 100);
  await assertSound();
});

test('two nodes that chain by turns, while others write, chain each entry once', async () => {
  const id = await newWorkspace();
  let writing = true;
  const node = async () => {
    while (writing) await chainAuditEntries(database.db, { limit: 7 });
  };
  const nodes = [node(), node()];
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let round = 0; round < 25; round += 1) await write(id, 1 + (round % 4));
    }),
  );
  writing = false;
  await Promise.all(nodes);
  await chainAll();
  assert.equal((await readChain(id)).length, 1 + 4 * 61);
  await assertSound();
});

test('an entry whose transaction ends late comes later in the chain, and keeps no other waiting', async () => {
  const id = await newWorkspace();
  await withClient({ connectionString: database.url }, async (client) => {
    await client.query('begin');
    const [late] = newEntries(id, 1);
    await insertWith(client, late);
    for (let round = 0; round < 5; round += 1) {
      await write(id, 30);
      await chainAll({ limit: 10 });
    }
    assert.equal((await readChain(id)).length, 151);
    await client.query('commit');
    await chainAll();
    const entries = await readChain(id);
    assert.deepEqual(
      [entries.length, entries.at(-1)?.id],
      [152, late?.table === 'audit_entries' && late.row.id],
    );
  });
  await assertSound();
});

test('an entry of an aborted transaction is not waited for', async () => {
  const id = await newWorkspace();
  await withClient({ connectionString: database.url }, async (client) => {
    await client.query('begin');
    await insertWith(client, newEntries(id, 1)[0]);
    await chainAll();
    await client.query('rollback');
  });
  await write(id, 1);
  await chainAll();
  assert.equal((await readChain(id)).length, 2);
  await assertSound();
});

test('a round that does not reach its end has done nothing', async (t) => {
  const id = await newWorkspace();
  await chainAll();
  for (const table of ['audit_segments', 'audit_positions']) {
    await write(id, 3);
    // After the row is in, as if the process was killed then.
    await database.pool.query(`
      create or replace function die() returns trigger language plpgsql as $$ begin raise exception 'killed'; end $$;
      create trigger die after insert on ${table} execute function die()`);
    t.after(() => database.pool.query(`drop trigger if exists die on ${table}`));
    await assert.rejects(chainAuditEntries(database.db), /killed/);
    await database.pool.query(`drop trigger die on ${table}`);
    await chainAll();
  }
  assert.equal((await readChain(id)).length, 7);
  await assertSound();
});

test('entries that were copied from another cluster are found, whatever its transactions were numbered', async () => {
  const id = await newWorkspace();
  await write(id, 5);
  await chainAll();
  const { rows } = await database.pool.query('select pg_current_xact_id()::text::bigint as now');
  // Not chained when they were copied; among them numbers that are still to come here.
  const copied = newEntries(id, 120);
  for (const [place, one] of copied.entries()) {
    if (one.table === 'audit_entries') one.row.written_in = rows[0].now + (place - 60) * 2;
  }
  await insertAll(database.db, copied);
  await database.pool.query(
    `update audit_positions set cluster = 1, seen = '${rows[0].now * 2}:${rows[0].now * 2}:'`,
  );
  await write(id, 5);
  // New ones are chained beside the walk through all.
  await chainAuditEntries(database.db, { limit: 4 });
  await write(id, 1);
  await chainAll({ limit: 4 });
  assert.equal((await readChain(id)).length, 1 + 5 + 120 + 5 + 1);
  // The numbers of the copied entries are reached here.
  for (let round = 0; round < 150; round += 1) {
    await database.pool.query('select pg_current_xact_id()');
    if (round % 10 === 0) await write(id, 1);
    if (round % 15 === 0) await chainAll({ limit: 4 });
  }
  await chainAll({ limit: 4 });
  assert.equal((await readChain(id)).length, 132 + 15);
  await assertSound();
});

test('a position that is ahead of the cluster, or lost, makes it look at all entries', async () => {
  const id = await newWorkspace();
  await write(id, 3);
  for (const change of [
    `update audit_positions set seen = '900000000000:900000000000:'`,
    'delete from audit_positions',
  ]) {
    await chainAll();
    await database.pool.query(change);
    await write(id, 3);
    await chainAll({ limit: 2 });
  }
  assert.equal((await readChain(id)).length, 10);
  await assertSound();
});

test('an entry with an id of another form is left out, and holds up no other', async () => {
  const id = await newWorkspace();
  const [strange] = newEntries(id, 1);
  if (strange?.table === 'audit_entries') strange.row.id = 'aud_strange';
  await insertAll(database.db, [strange as NonNullable<typeof strange>]);
  await write(id, 1);
  await chainAll();
  const entries = await listAuditEntries(database.db, { workspaceId: id, limit: 10 });
  assert.deepEqual(entries.map(({ sequence }) => sequence).sort(), [1, 2, null]);
});

for (const [what, hold] of [
  ['an old snapshot', 'select count(*) from audit_entries'],
  ['a writing transaction', 'select pg_current_xact_id()'],
] as const) {
  test(`finding new entries stays cheap while ${what} is open`, async () => {
    const connection = { connectionString: database.url };
    const id = await newWorkspace();
    const single = openDatabase({ connection: () => connection, onError() {}, max: 1 });
    try {
      await withClient(connection, async (other) => {
        await other.query('begin isolation level repeatable read');
        await other.query(hold);
        const chain = () => chainAuditEntries(single.db);
        await write(id, 1000);
        await chain();
        const reads = { index: 'audit_entries_written_in', work: chain };
        await endIdleConnections(single.pool);
        assert.ok((await countEntries(single.pool, reads)) < 50);
        await write(id, 3);
        assert.ok((await countEntries(single.pool, reads)) < 50);
      });
      assert.equal((await readChain(id)).length, 1 + 1000 + 3);
    } finally {
      await single.close();
    }
  });
}

/** On a connection of its own, which may be inside a transaction. */
async function insertWith(
  client: pg.Client,
  entry: ReturnType<typeof auditWrite> | undefined,
): Promise<void> {
  if (entry?.table !== 'audit_entries') throw new Error('not an audit entry');
  const names = Object.keys(entry.row);
  await client.query(
    `insert into audit_entries (${names.join()}) values (${names.map((_, place) => `$${place + 1}`).join()})`,
    Object.values(entry.row),
  );
}
