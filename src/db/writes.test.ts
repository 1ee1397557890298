/** Inserted rows, sent as arrays or as JSON, arrive unchanged and in order. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DatabaseError, type Pool, type QueryConfig } from 'pg';
import { openTestDatabase, withClient } from '../../test/support/service/database.ts';
import { waitUntil } from '../../test/support/service/process.ts';
import { encodeArray } from './arrays.ts';
import { columnTypes } from './column-types.ts';
import { createGroupCommit, insertAll, packRows, type Write } from './writes.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

test('column-types.ts has the type of every column in the database', async () => {
  for (const [table, types] of Object.entries(columnTypes)) {
    const { rows } = await database.pool.query<{ name: string; type: string }>(
      `select column_name as name, udt_name as type from information_schema.columns
       where table_schema = 'public' and table_name = $1`,
      [table],
    );
    const names: Record<string, string> = { int4: 'integer', int8: 'bigint', bool: 'boolean' };
    const found = Object.fromEntries(rows.map(({ name, type }) => [name, names[type] ?? type]));
    assert.deepEqual(types, found, table);
  }
});

const samples = {
  text: ['', 'a', '"{},\\ \n', 'ünïcödé 𝔸', '\u2028'],
  bytea: [Buffer.alloc(0), Buffer.from([0, 255, 92]), Buffer.alloc(1000, 7)],
  integer: [0, -1, 2 ** 31 - 1, -(2 ** 31)],
  bigint: [0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
  boolean: [true, false],
  timestamptz: [new Date(0), new Date('1969-12-31T23:59:59.999Z'), new Date('9999-12-31T23:59:59.999Z')],
  jsonb: [{}, [], { a: [1, 'ü', null, { b: true }] }, 'text', 1.5],
};

for (const [type, values] of Object.entries(samples)) {
  test(`an array of ${type} is stored unchanged, with nulls or empty`, async () => {
    for (const sent of [values, [null, ...values, null], [null], []]) {
      const array = encodeArray(type as keyof typeof samples, sent);
      const { rows } = await database.pool.query(`select value from unnest($1::${type}[]) as t (value)`, [
        array,
      ]);
      assert.deepEqual(
        rows.map(({ value }) => value),
        sent,
      );
    }
  });
}

test('a time may be text with a time zone', async () => {
  const { rows } = await database.pool.query('select ($1::timestamptz[])[1] as at', [
    encodeArray('timestamptz', ['2026-01-02T03:04:05.678+02:00']),
  ]);
  assert.deepEqual(rows[0].at, new Date('2026-01-02T01:04:05.678Z'));
});

test('inserts the rows of one table in the given order', async () => {
  const leaf = (version: number): Write => ({
    table: 'anchor_leaves',
    row: {
      workspace_id: 'ws_order',
      kind: 'record',
      subject_id: 'rec_order',
      version,
      vault_id: 'vlt_order',
      digest: Buffer.alloc(32),
      canonicalization: 'raw',
      previous_leaf: Buffer.alloc(32),
      claims: null,
      claims_hash: Buffer.alloc(32),
      leaf: Buffer.alloc(32),
    },
  });
  const versions = Array.from({ length: 500 }, (_, place) => (place * 7) % 500);
  await insertAll(database.db, versions.map(leaf));
  const { rows } = await database.pool.query(
    "select version from anchor_leaves where workspace_id = 'ws_order' order by id",
  );
  assert.deepEqual(
    rows.map(({ version }) => version),
    versions,
  );
});

test('does not group large commits without limit', async () => {
  const commit = createGroupCommit(database.pool);
  const event = (id: string): Write => ({
    table: 'events',
    row: { workspace_id: 'ws_many', id, type: 'x', envelope: id, created_at: new Date() },
  });
  const big = (name: string) => Array.from({ length: 3_000 }, (_, place) => event(`${name}_${place}`));
  await insertAll(database.db, [
    { table: 'workspaces', row: { id: 'ws_many', name: 'x', slug: 'many', metadata: {} } },
  ]);
  await Promise.all(['a', 'b', 'c', 'd'].map((name) => commit(big(name))));
  const { rows } = await database.pool.query(
    "select count(*) as rows, count(distinct xmin::text) as commits from events where workspace_id = 'ws_many'",
  );
  assert.deepEqual(rows, [{ rows: 12_000, commits: 4 }]);
});

test('packed rows share a statement with others, in their order, and fail only with their own workspace', async () => {
  const statements: unknown[] = [];
  const commit = createGroupCommit({
    query(statement: never) {
      statements.push(statement);
      return database.pool.query(statement);
    },
  } as unknown as Pool);
  const row = (workspace: string, version: number, externalId: string | null) => ({
    workspace_id: workspace,
    kind: 'record',
    subject_id: 'rec_packed',
    version,
    vault_id: 'vlt_packed',
    digest: Buffer.alloc(32, version),
    canonicalization: 'jcs' as const,
    previous_leaf: Buffer.alloc(32),
    claims: null,
    claims_hash: Buffer.alloc(32),
    leaf: Buffer.alloc(32),
    external_id: externalId,
  });
  const packed = (workspace: string, first: number) =>
    packRows('anchor_leaves', [row(workspace, first, 'ünï'), row(workspace, first + 1, null)]);
  await Promise.all([
    commit([], packed('ws_packed', 1)),
    commit([{ table: 'anchor_leaves', row: row('ws_packed', 9, 'alone') }]),
    commit([], packed('ws_packed', 3)),
  ]);
  assert.equal(statements.length, 1);
  const stored = async (workspace: string) => {
    const { rows } = await database.pool.query(
      'select version, external_id, digest from anchor_leaves where workspace_id = $1 order by id',
      [workspace],
    );
    return rows;
  };
  assert.deepEqual(
    await stored('ws_packed'),
    [
      [9, 'alone'],
      [1, 'ünï'],
      [2, null],
      [3, 'ünï'],
      [4, null],
    ].map(([version, external_id]) => ({
      version,
      external_id,
      digest: Buffer.alloc(32, Number(version)),
    })),
  );
  await database.pool.query(`update budget_settings set limits = '{"anchors_per_day": 1}'`);
  await database.pool.query(
    `insert into budget_settings (limits) select '{"anchors_per_day": 1}' where not exists (select from budget_settings)`,
  );
  statements.length = 0;
  const [over, within] = await Promise.allSettled([
    commit([], packed('ws_over', 1)),
    commit([{ table: 'anchor_leaves', row: row('ws_within', 1, null) }]),
  ]);
  await database.pool.query('delete from budget_settings');
  assert.deepEqual([over.status, within.status], ['rejected', 'fulfilled']);
  // Together, then each apart: not in halves of halves.
  assert.equal(statements.length, 3);
  assert.deepEqual([(await stored('ws_over')).length, (await stored('ws_within')).length], [0, 1]);
});

test('rows of two workspaces, or with different columns, are not packed together', () => {
  const event = (workspace_id: string) => ({
    ...{ workspace_id, id: 'evt_1', type: 'x', envelope: '{}', created_at: new Date() },
  });
  assert.throws(() => packRows('events', [event('ws_1'), event('ws_2')]), /differ/);
  assert.throws(() => packRows('events', [event('ws_1'), { ...event('ws_1'), written_in: 0 }]), /differ/);
  assert.throws(() => packRows('events', []), /no rows/);
});

test('repeats a commit after a deadlock, once, and after no other error', async () => {
  const deadlock = Object.assign(new DatabaseError('deadlock detected', 0, 'error'), { code: '40P01' });
  const failing = (faults: Error[]) =>
    createGroupCommit({
      query: async (statement: never) => {
        const fault = faults.shift();
        if (fault) throw fault;
        return database.pool.query(statement);
      },
    } as unknown as Pool);
  const workspace = (id: string): Write[] => [
    { table: 'workspaces', row: { id, name: 'x', slug: id, metadata: {} } },
  ];
  await failing([deadlock])(workspace('ws_again'));
  await assert.rejects(failing([deadlock, deadlock])(workspace('ws_twice')), deadlock);
  const away = new Error('Connection terminated');
  await assert.rejects(failing([away])(workspace('ws_away')), away);
  const { rows } = await database.pool.query(
    "select id from workspaces where id in ('ws_again', 'ws_twice', 'ws_away')",
  );
  assert.deepEqual(rows, [{ id: 'ws_again' }]);
});

test('a used Idempotency-Key fails its own commit only, and delays its neighbours by one statement', async () => {
  const statements: unknown[] = [];
  const commit = createGroupCommit({
    query(statement: never) {
      statements.push(statement);
      return database.pool.query(statement);
    },
  } as unknown as Pool);
  const answer = (number: number): Write[] => [
    {
      table: 'idempotent_answers',
      row: {
        created_at: new Date(),
        status: 202,
        slot: Buffer.alloc(32, number),
        fingerprint: Buffer.alloc(32),
        made: null,
        body: null,
      },
    },
  ];
  await commit(answer(7));
  statements.length = 0;
  const told = await Promise.allSettled(Array.from({ length: 20 }, (_, number) => commit(answer(number))));
  assert.deepEqual(
    told.flatMap(({ status }, number) => (status === 'rejected' ? [number] : [])),
    [7],
  );
  // All of them, the others again, and the used key by itself.
  assert.equal(statements.length, 3);
});

test('a workspace that fails over and over costs the others one repeated statement, not one for each failure', async () => {
  await insertAll(
    database.db,
    ['ws_loop', 'ws_honest'].map((id) => ({
      table: 'workspaces',
      row: { id, name: 'x', slug: id.replace('_', '-'), metadata: {} },
    })),
  );
  const statements: string[] = [];
  const open = () =>
    createGroupCommit({
      query(statement: { values: (string | Buffer)[] }) {
        statements.push(
          statement.values.map((value) => Buffer.from(value as string).toString('latin1')).join(' '),
        );
        return database.pool.query(statement as never);
      },
    } as unknown as Pool);
  const worker = (workspace: string, id: string, address: string): Write[] => [
    {
      table: 'workers',
      row: { workspace_id: workspace, id, name: 'x', address, key_holder: 'worker', licences: [] },
    },
  ];
  // Named by its key, as a row that breaks a rule, and not named at all.
  const faults: Record<string, (number: number) => Write[]> = {
    key: (number) => worker('ws_loop', `taken${number}`, '0xtaken'),
    row: (number) => [
      {
        table: 'workers',
        row: {
          ...(worker('ws_loop', `bad${number}`, `0xbad${number}`)[0] as Write).row,
          key_holder: 'nobody',
        },
      } as never,
    ],
    text: (number) => worker('ws_loop', `null\0${number}`, `0xnull${number}`),
  };
  await open()(worker('ws_loop', 'first', '0xtaken'));
  const rounds = 20;
  for (const [name, fault] of Object.entries(faults)) {
    const fresh = open();
    statements.length = 0;
    for (let round = 0; round < rounds; round += 1) {
      const told = await Promise.allSettled([
        ...Array.from({ length: 4 }, (_, n) =>
          fresh(worker('ws_honest', `${name}${round}h${n}`, `0x${name}${round}h${n}`)),
        ),
        ...Array.from({ length: 4 }, (_, n) => fresh(fault(round * 4 + n))),
      ]);
      assert.deepEqual(
        told.map(({ status }) => status),
        [...Array(4).fill('fulfilled'), ...Array(4).fill('rejected')],
      );
    }
    const withHonest = statements.filter((text) => text.includes('ws_honest')).length;
    // Where the error names nobody, the halves of one group.
    assert.ok(
      withHonest <= rounds + (name === 'text' ? 4 : 1),
      `${withHonest} statements with rows of others (${name})`,
    );
  }
});

test('two statements with the same unique addresses never deadlock', async () => {
  await insertAll(database.db, [
    { table: 'workspaces', row: { id: 'ws_twins', name: 'x', slug: 'twins', metadata: {} } },
  ]);
  const worker = (address: string, id: string): Write => ({
    table: 'workers',
    row: { workspace_id: 'ws_twins', id, name: 'x', address, key_holder: 'worker', licences: [] },
  });
  const failures: unknown[] = [];
  const watched = {
    query: (statement: QueryConfig) =>
      database.pool.query(statement).catch((error) => {
        failures.push(error.code);
        throw error;
      }),
  } as unknown as Pool;
  // Of two nodes.
  const [one, other] = [createGroupCommit(watched), createGroupCommit(watched)];
  const addresses = Array.from({ length: 9 }, (_, number) => `0x${number}`);
  const told = await withClient({ connectionString: database.url }, async (client) => {
    await client.query('begin');
    await client.query(
      `insert into workers (workspace_id, id, name, address, key_holder) values ('ws_twins', 'c', 'x', '0x4', 'worker')`,
    );
    const commits = [
      one(addresses.map((address, place) => worker(address, `a${place}`))),
      other(addresses.toReversed().map((address, place) => worker(address, `b${place}`))),
    ];
    const settled = Promise.allSettled(commits);
    await waitUntil(async () => {
      const { rows } = await database.pool.query(
        `select count(*) from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into workers%'`,
      );
      return Number(rows[0].count) === 2;
    });
    await client.query('rollback');
    return settled;
  });
  assert.deepEqual(told.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  assert.deepEqual([...new Set(failures)], ['23505']);
});
