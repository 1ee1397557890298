/** The counted hours of what was anchored: they say what counting all batches would say, also after a reorganisation. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { openTestDatabase } from '../../../test/support/service/database.ts';
import { countAnchoredAgain, countAnchoredHours, readAnchored } from './anchored-hours.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
const from = new Date('2026-03-01T00:00:00Z');
const hourMs = 60 * 60 * 1000;
const later = (hours: number) => new Date(from.getTime() + hours * hourMs);

/** Some 1,500 batches in two and a half days, each with two subtrees of one workspace and one of another. */
before(async () => {
  database = await openTestDatabase();
  const client = await database.pool.connect();
  await client.query('set session_replication_role = replica');
  await client.query(`
    insert into anchor_leaves (created_at, version, workspace_id, kind, subject_id, vault_id, canonicalization, digest,
      previous_leaf, claims_hash, leaf)
    select timestamptz '2026-03-01T00:00:00Z' + n * interval '12 seconds' - (n * 7919 % 1000) * interval '37 ms', 1, 'ws_1',
      'record', 'rec_' || n, 'vlt_1', 'jcs', sha256(''), sha256(''), sha256(''), sha256('')
    from generate_series(1, 18000) as n`);
  await client.query(`
    insert into anchor_batches (root, size, outgoing_id, status, transaction_hash, block_number,
      block_hash, block_time, confirmed_at, evidence_root, head_path)
    select sha256(n::text::bytea), 12, n, 'finalized', sha256(''), n, sha256(''), n,
      timestamptz '2026-03-01T00:00:10Z' + n * interval '144 seconds', sha256(''), ''
    from generate_series(1, 1500) as n`);
  await client.query(`
    insert into anchor_subtrees (batch_id, workspace_id, vault_id, root, leaves, first_place, sequence, previous_seal,
      signature, seal_id, upper_path, ids)
    select b.id, ws, vault, sha256(''), decode(repeat('00', 32 * part.size), 'hex'), first, b.id, sha256(''),
      decode(repeat('00', 65), 'hex'), sha256(''), '', (
        select string_agg(int8send((b.id - 1) * 12 + first + n), '' order by n) from generate_series(1, part.size) as n)
    from anchor_batches b, (values ('ws_1', 'vlt_1', 0, 7), ('ws_2', 'vlt_3', 7, 2), ('ws_1', 'vlt_2', 9, 3)) as part (ws, vault, first, size)`);
  await client.query('reset session_replication_role');
  client.release();
});
after(() => database.close());

const ranges = [
  { to: later(48), bucketSeconds: 3_600 },
  { to: later(59.5), bucketSeconds: 10_800 },
  { to: later(72), bucketSeconds: 86_400 },
  { to: later(13), bucketSeconds: 900 },
];

async function readAll(workspaceId: string) {
  const answers: unknown[] = [];
  for (const range of ranges) {
    const rows = await readAnchored(database.db, { workspaceId, from, ...range });
    answers.push(rows.toSorted((one, other) => one.at.getTime() - other.at.getTime()));
  }
  return answers;
}

async function countAll(now: Date): Promise<void> {
  while ((await countAnchoredHours(database.db, now)) === true);
}

async function keptHours(): Promise<number> {
  const { rows } = await database.pool.query(
    'select count(distinct hour)::integer as hours from anchored_hours',
  );
  return rows[0].hours;
}

test('answers the same from counted hours as from all batches', async () => {
  const [one, two] = [await readAll('ws_1'), await readAll('ws_2')];
  const [days] = (one[2] ?? []) as { anchored: number; p50: number; p95: number }[];
  // 599 batches of the first day, with 10 leaves each.
  assert.equal(days?.anchored, 5_990);
  const { rows: exact } = await database.pool.query(`
    select percentile_cont(0.5) within group (order by ms) as p50, percentile_cont(0.95) within group (order by ms) as p95
    from (
      select extract(epoch from b.confirmed_at - l.created_at) * 1000 as ms
      from anchor_leaves l join anchor_batches b on b.id = (l.id + 11) / 12
      where b.confirmed_at < '2026-03-02T00:00:00Z' and (l.id - 1) % 12 not in (7, 8)
    ) as delays`);
  for (const name of ['p50', 'p95'] as const)
    assert.ok(Math.abs(days[name] / exact[0][name] - 1) < 0.08, JSON.stringify({ days, exact }));
  for (const hours of [5.1, 30, 71]) {
    await countAll(later(hours));
    assert.equal(await keptHours(), Math.min(61, Math.floor(hours - 10 / 60)));
    assert.deepEqual(await readAll('ws_1'), one, `after ${hours} hours`);
    assert.deepEqual(await readAll('ws_2'), two, `after ${hours} hours`);
  }
  assert.deepEqual(await readAll('ws_3'), [[], [], [], []]);
});

test('counts hours again of which a confirmation was taken back, and waits for who takes it back', async () => {
  const client = await database.pool.connect();
  await client.query('begin');
  await client.query("update anchored_hours_counted set until = '2026-03-01T20:00:00Z'");
  const counting = countAll(later(71));
  await database.db.transaction().execute(async (db) => {
    await client.query('commit');
    await countAnchoredAgain(db, 100);
    await sql`
      update anchor_batches set status = 'submitted', transaction_hash = null, block_number = null, block_hash = null,
        block_time = null, confirmed_at = null where outgoing_id = 100`.execute(db);
  });
  client.release();
  await counting;
  await countAll(later(71));
  const counted = await readAll('ws_1');
  await database.pool.query('delete from anchored_hours_counted');
  assert.deepEqual(counted, await readAll('ws_1'));
});

test('reads the subtrees of no other workspace', async () => {
  await countAll(later(71));
  const { rows } = await database.pool.query(
    "select count(*)::integer as n from anchored_hours where workspace_id = 'ws_2'",
  );
  assert.ok(rows[0].n > 50);
  await database.pool.query("delete from anchor_subtrees where workspace_id = 'ws_2'");
  const counts = await readAnchored(database.db, {
    workspaceId: 'ws_2',
    from,
    to: later(48),
    bucketSeconds: 3_600,
  });
  assert.equal(counts.length, 48);
});
