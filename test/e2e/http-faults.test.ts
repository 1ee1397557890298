/** Faults of our own: a broken statement is 500 without its message, a database that is away is 503 and heals. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { assertError, assertProblem } from '../support/openapi/openapi-answers.ts';
import { withClient } from '../support/service/database.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Service, startService } from '../support/service/service.ts';

const vaults = '/api-v1/platform/vaults';

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

test('connections lost while in use cost a retry, never an error or the process', async () => {
  const database = new URL(service.databaseUrl).pathname.slice(1);
  for (let round = 0; round < 10; round += 1) {
    const requests = Array.from({ length: 10 }, (_, turn) =>
      turn % 2 === 0
        ? service.call('GET', vaults)
        : service.call('POST', '/api-v1/platform/api-keys', { body: { name: 'x' } }),
    );
    await onServer((client) =>
      client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database]),
    );
    for (const answer of await Promise.all(requests)) {
      if (answer.status < 300) continue;
      assertError(answer, 'service_unavailable');
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    }
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
        const answer = await service.call(method, path, options);
        assertError(answer, 'service_unavailable');
        assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
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

function inDatabase(text: string): Promise<unknown> {
  return withClient({ connectionString: service.databaseUrl }, (client) => client.query(text));
}

function onServer<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  return withClient({ connectionString: process.env.HOLDFAST_TEST_SERVER }, work);
}
