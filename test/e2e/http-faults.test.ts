/** Faults of our own: a broken statement is 500 without its message, a database that is away is 503 and heals. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { assertError, assertProblem } from '../support/openapi/openapi-answers.ts';
import { withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

const vaults = '/api-v1/platform/vaults';
/** The most that one pool of the service has. */
const mostConnections = 10;

let service: Service;
before(async () => {
  service = await startService();
});
after(() => service.close());

test('an internal error is 500, reveals nothing to the caller, and is logged under the request id', async () => {
  await inDatabase('alter table workers rename to workers_elsewhere');
  const requests: [string, object][] = [
    ['GET', {}],
    ['POST', { body: { name: 'x' } }],
  ];
  for (const [method, options] of requests) {
    const answer = await service.call(method, '/api-v1/damc/workers/', options);
    assertError(answer, 'internal_error', /X-Request-Id/);
    assert.doesNotMatch(answer.text, /relation|workers|select|insert|pg|node_modules|\.ts/i);
    const lines = service.logged().split('\n');
    const id = answer.headers.get('x-request-id') ?? '?';
    assert.ok(lines.some((line) => line.includes(id) && /relation .*workers.* does not exist/.test(line)));
  }
  assertProblem(
    await service.call('GET', '/api-v1/damc/workers/', { headers: { accept: 'application/problem+json' } }),
    'internal_error',
  );
  await inDatabase('alter table workers_elsewhere rename to workers');
  assert.equal((await service.call('GET', '/api-v1/damc/workers/')).status, 200);
});

test('a connection lost during a statement means 503 and nothing stored, and the repeat succeeds', async () => {
  for (const name of ['lost once', 'lost twice', 'lost thrice']) {
    const ask = () =>
      Promise.all([service.call('GET', vaults), service.call('POST', vaults, { body: { name } })]);
    const lost = await withClient({ connectionString: service.databaseUrl }, async (client) => {
      await client.query('begin');
      await client.query('lock table vaults in access exclusive mode');
      const answers = ask();
      // Both are certainly in the midst of it: the one reads, the other writes, and both wait for the table.
      await waitUntil(async () => {
        const waiting = await statementsWaiting();
        return [/from "vaults" .*order by "id" desc/s, /insert into .*vaults/s].every((wanted) =>
          waiting.some((statement) => wanted.test(statement)),
        );
      });
      await endConnections();
      return await answers;
    });
    for (const answer of lost) assertAway(answer);
    await repeated(lost[0], () => service.call('GET', vaults));
    await repeated(lost[1], () => service.call('POST', vaults, { body: { name } }));
    const { rows } = await service.sql('select 1 from vaults where name = $1', [name]);
    assert.equal(rows.length, 1, 'only what was answered with 201 is stored');
  }
});

test('connections lost at any moment cost a retry, never an error or the process', async () => {
  for (let round = 0; round < 10; round += 1) {
    const requests = Array.from(
      { length: 10 },
      (_, turn) => () =>
        turn % 2 === 0
          ? service.call('GET', vaults)
          : service.call('POST', '/api-v1/platform/api-keys', { body: { name: 'x' } }),
    );
    const answers = requests.map((request) => request());
    assert.ok((await endConnections()) > 0, 'the service had no connection that could be lost');
    for (const [turn, request] of requests.entries()) await repeated(await answers[turn], request);
  }
});

const absences = [
  {
    name: 'refuses connections',
    leave: () => 'select 1',
    back: (name: string) => `alter database ${name} with allow_connections true`,
  },
  {
    name: 'does not exist for a while',
    leave: (name: string) => `alter database ${name} rename to ${name}_away`,
    back: (name: string) =>
      `alter database ${name}_away with allow_connections true; alter database ${name}_away rename to ${name}`,
  },
];

for (const { name, leave, back } of absences) {
  test(`while the database ${name} every answer is 503 with Retry-After, and then all works again`, async () => {
    const database = new URL(service.databaseUrl).pathname.slice(1);
    await onServer(async (client) => {
      await client.query(`alter database ${database} with allow_connections false`);
      // One that was just being opened may have slipped through.
      await waitUntil(async () => {
        await client.query(
          'select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1',
          [database],
        );
        return (await service.call('GET', vaults)).status === 503;
      });
      await client.query(leave(database));
    });
    try {
      for (const [method, path, options] of [
        ['GET', vaults, {}],
        ['GET', `${vaults}/0x${'0'.repeat(40)}`, {}],
        ['POST', vaults, { body: { name: 'x' } }],
        ['POST', vaults, { body: { name: 'x' }, headers: { 'idempotency-key': 'away' } }],
      ] as const) {
        assertAway(await service.call(method, path, options));
      }
      const ready = await service.call('GET', '/readyz');
      assert.equal(ready.status, 503);
      assert.equal(ready.json.ready, false);
      assert.match(ready.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
      assert.equal((await service.call('GET', '/healthz')).status, 200);
      assertError(await service.call('GET', '/nothing'), 'resource_not_found');
    } finally {
      await onServer((client) => client.query(back(database)));
    }
    assert.equal((await service.call('GET', vaults)).status, 200);
    assert.equal((await service.call('POST', vaults, { body: { name: 'x' } })).status, 201);
    // Its loops come back one by one.
    await waitUntil(async () => (await service.call('GET', '/readyz')).status === 200);
  });
}

function assertAway(answer: Answer): void {
  assertError(answer, 'service_unavailable');
  assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
}

/** Until it succeeds, unless it did: nothing but the loss of a connection may stand in its way. */
async function repeated(answer: Answer | undefined, request: () => Promise<Answer>): Promise<void> {
  for (
    let last = answer ?? (await request()), turn = 0;
    last.status >= 300;
    last = await request(), turn += 1
  ) {
    assertAway(last);
    // Each of its connections may have been lost, and is found out to be by one request.
    assert.ok(turn < mostConnections, `still ${last.text} after ${turn} repeats`);
  }
}

/** Of the service, those that wait for a lock. */
async function statementsWaiting(): Promise<string[]> {
  const { rows } = await onServer((client) =>
    client.query(
      `select query from pg_stat_activity
       where datname = $1 and application_name = 'holdfast' and wait_event_type = 'Lock'`,
      [new URL(service.databaseUrl).pathname.slice(1)],
    ),
  );
  return rows.map(({ query }) => query);
}

/** Ends all connections of the service, and resolves with how many there were. */
async function endConnections(): Promise<number> {
  const { rowCount } = await onServer((client) =>
    client.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
       where datname = $1 and application_name = 'holdfast'`,
      [new URL(service.databaseUrl).pathname.slice(1)],
    ),
  );
  return rowCount ?? 0;
}

function inDatabase(text: string): Promise<unknown> {
  return withClient({ connectionString: service.databaseUrl }, (client) => client.query(text));
}

function onServer<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  return withClient({ connectionString: process.env.HOLDFAST_TEST_SERVER }, work);
}
