/** Idempotency-Key: one thing and one answer however often, wherever and whenever a request is repeated. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import type { QueryResult } from 'pg';
import { assertError, send } from '../support/openapi/openapi-answers.ts';
import { someTarget, webhookSettings } from '../support/openapi/openapi-operations.ts';
import { makeThings } from '../support/openapi/openapi-things.ts';
import { createTestDatabase, type TestDatabase, withClient } from '../support/service/database.ts';
import { storedAnswers } from '../support/service/idempotent-answers.ts';
import { waitUntil } from '../support/service/process.ts';
import { type Answer, type CallOptions, type Service, startService } from '../support/service/service.ts';

const vaults = '/api-v1/platform/vaults';
const workers = '/api-v1/damc/workers/';
const keys = '/api-v1/platform/api-keys';

const env = { ...webhookSettings, HOLDFAST_MASTER_KEY: randomBytes(32).toString('hex') };
let database: TestDatabase;
/** Two nodes on one database. */
let first: Service;
let second: Service;

before(async () => {
  database = await createTestDatabase();
  first = await startService({ env, databaseUrl: database.url });
  second = await startService({ env, databaseUrl: database.url });
});
after(async () => {
  await first.close();
  await second.close();
  await database.drop();
});

/** Posts with an idempotency key; whichever node is asked, the caller is the same. */
function post(
  node: Service,
  path: string,
  key: string,
  body: unknown,
  options: CallOptions = {},
): Promise<Answer> {
  return node.call('POST', path, { body, key: first.key, ...options, headers: { 'idempotency-key': key } });
}

function sql(text: string, values: unknown[] = []): Promise<QueryResult> {
  return withClient({ connectionString: database.url }, (client) => client.query(text, values));
}

async function count(table: string, name: string, member = 'name'): Promise<number> {
  return Number((await sql(`select count(*) from ${table} where ${member} = $1`, [name])).rows[0].count);
}

interface Creation {
  path: string;
  table: string;
  /** What carries the name that the thing is found by. */
  member: 'name' | 'description';
  more?: object;
}

const creations: Creation[] = [
  { path: vaults, table: 'vaults', member: 'name' },
  { path: workers, table: 'workers', member: 'name' },
  { path: keys, table: 'api_keys', member: 'name' },
  {
    path: '/api-v1/platform/webhooks/endpoints',
    table: 'webhook_endpoints',
    member: 'description',
    more: { url: someTarget, eventTypes: ['vault.deactivated'] },
  },
];

function bodyOf({ member, more }: Creation, name: string): object {
  return { ...more, [member]: name };
}

for (const creation of creations) {
  const { path, table, member } = creation;
  test(`POST ${path}: a repeat gets the first answer, byte for byte, and creates nothing`, async () => {
    const name = randomUUID();
    const body = bodyOf(creation, name);
    const made = await post(first, path, name, body);
    assert.equal(made.status, 201);
    assert.equal(made.headers.get('idempotency-replayed'), null);
    for (const node of [first, second]) {
      const again = await post(node, path.replace(/\/?$/, '/'), name, body);
      assert.deepEqual([again.status, again.text], [201, made.text]);
      assert.equal(again.headers.get('idempotency-replayed'), 'true');
      assert.equal(again.headers.get('content-type'), made.headers.get('content-type'));
    }
    assert.equal(await count(table, name, member), 1);
  });

  test(`POST ${path}: fifty concurrent requests on one node create one resource`, () =>
    race([first], creation));
  test(`POST ${path}: fifty concurrent requests on two nodes create one resource`, async () => {
    for (let round = 0; round < 3; round += 1) await race([first, second], creation);
  });
}

async function race(nodes: Service[], creation: Creation): Promise<void> {
  const { path, table, member } = creation;
  const name = randomUUID();
  const body = bodyOf(creation, name);
  const node = (turn: number) => nodes[turn % nodes.length] as Service;
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, turn) => post(node(turn), path, name, body)),
  );
  const made = answers.filter(({ status }) => status === 201);
  assert.notEqual(made.length, 0);
  assert.equal(new Set(made.map(({ text }) => text)).size, 1);
  for (const answer of answers) {
    if (answer.status === 201) continue;
    assertError(answer, 'idempotency_in_progress');
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  }
  assert.equal(await count(table, name, member), 1);
  assert.equal((await storedAnswers(database.url, path, name)).length, 1);
  assert.equal((await post(node(1), path, name, body)).text, made[0]?.text);
}

test('another payload under the same key is 422', async () => {
  const key = randomUUID();
  assert.equal((await post(first, vaults, key, { name: 'a' })).status, 201);
  for (const body of [{ name: 'b' }, { name: 'a', description: '' }, { name: 'A' }]) {
    for (const node of [first, second]) {
      assertError(await post(node, vaults, key, body), 'idempotency_key_reused');
    }
  }
});

test('of concurrent different payloads with one key one wins, and the others are refused', async () => {
  for (const nodes of [[first], [first, second], [second, first]]) {
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, turn) =>
        post(nodes[turn % nodes.length] as Service, vaults, key, { name: `${key} ${turn % 4}` }),
      ),
    );
    const winner = answers.find(({ status }) => status === 201) ?? assert.fail('none won');
    for (const [turn, answer] of answers.entries()) {
      const isSame = winner.json.name === `${key} ${turn % 4}`;
      if (isSame && answer.status === 201) assert.equal(answer.text, winner.text);
      else if (isSame) assertError(answer, 'idempotency_in_progress');
      // As long as the first is under way, another one is told to wait too.
      else assertError(answer, answer.status === 409 ? 'idempotency_in_progress' : 'idempotency_key_reused');
    }
    const { rows } = await sql('select name from vaults where name like $1', [`${key}%`]);
    assert.deepEqual(rows, [{ name: winner.json.name }]);
  }
});

test('a concurrent repeat on another node gets the first answer, not a conflict with it', async () => {
  for (let round = 0; round < 5; round += 1) {
    const body = { name: randomUUID(), address: `0x${randomBytes(20).toString('hex')}` };
    const answers = await Promise.all([first, second].map((node) => post(node, workers, body.name, body)));
    assert.deepEqual(
      answers.map(({ status, text }) => [status, text]),
      Array(2).fill([201, answers[0]?.text]),
    );
  }
});

test('a repeat on another node that conflicts with the first request gets its answer', async () => {
  const [from, to] = await Promise.all(
    ['from', 'to'].map(async (name) => (await first.call('POST', vaults, { body: { name } })).json.address),
  );
  const files = '/api-v1/platform/files';
  const hash = `0x${randomBytes(32).toString('hex')}`;
  const made = await first.call('POST', files, {
    body: { vaultAddress: from, name: 'deed', contentHash: hash },
  });
  assert.equal(made.status, 202, made.text);
  const path = `${files}/${made.json.id}/transfer`;
  const transfer = (node: Service) => post(node, path, 'hand-on', { destinationVaultAddress: to });
  const [one, other] = await withClient({ connectionString: database.url }, async (client) => {
    await client.query('begin');
    await client.query('select 1 from files where id = $1 for update', [made.json.id]);
    const answers = [transfer(first), transfer(second)];
    // Both have looked for an answer, found none, and wait for the file.
    await waitUntil(async () => (await waitingFor('files')) === 2);
    await client.query('commit');
    return Promise.all(answers);
  });
  assert.deepEqual([one?.status, other?.status], [202, 202], `${one?.text} ${other?.text}`);
  assert.equal(one?.text, other?.text);
  // Without a key it is another request, and refused.
  const third = await first.call('POST', path, { body: { destinationVaultAddress: to } });
  assertError(third, 'conflict');
});

/** How many sessions of the database wait for a lock with a statement about this table. */
async function waitingFor(table: string): Promise<number> {
  const { rows } = await sql(
    `select count(*) from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query ilike $1`,
    [`%${table}%`],
  );
  return Number(rows[0].count);
}

test('the order of members and the spelling of JSON do not matter', async () => {
  const key = randomUUID();
  const made = await post(first, vaults, key, '{"name":"é","description":"x"}');
  const again = await post(first, vaults, key, ' {"description" : "\\u0078",\n"name":"\\u00e9"}');
  assert.deepEqual([again.status, again.text], [201, made.text]);
});

test('a quoted key and the same key unquoted are one', async () => {
  const key = randomUUID();
  const made = await post(first, vaults, key, { name: 'x' });
  assert.equal((await post(first, vaults, `"${key}"`, { name: 'x' })).text, made.text);
});

test('a key has 1 to 255 printable characters without spaces, not counting quotes', async () => {
  for (const key of ['', '""', 'a b', ' ', '"a b"', 'a'.repeat(256), `"${'a'.repeat(256)}"`, 'é', 'a\tb']) {
    assertError(await post(first, vaults, key, { name: 'x' }), 'invalid_request', /idempotency-key/i);
  }
  for (const key of [randomUUID(), 'k'.repeat(255), "!#$%&'*+-./:;<=>?@[]^_`{|}~\\"]) {
    assert.equal((await post(first, vaults, key, { name: 'x' })).status, 201, key);
  }
  const longest = randomUUID().padEnd(255, 'x');
  const made = await post(first, vaults, longest, { name: 'x' });
  const quoted = await post(first, vaults, `"${longest}"`, { name: 'x' });
  assert.deepEqual([quoted.status, quoted.text], [201, made.text]);
});

test('two keys in one request are refused', async () => {
  const headers = { 'x-api-key': first.key, 'content-type': 'application/json', 'idempotency-key': 'a, b' };
  assertError(
    await send(first.url, { method: 'POST', path: vaults, headers, body: '{"name":"x"}' }),
    'invalid_request',
  );
});

test('a failed request is not remembered: the key is free for the corrected one', async () => {
  const address = `0x${randomBytes(20).toString('hex')}`;
  await first.call('POST', workers, { body: { name: 'Present', address } });
  const key = randomUUID();
  assertError(await post(first, workers, key, { name: 'Twin', address }), 'conflict');
  assertError(await post(first, workers, key, { name: '' }), 'invalid_request');
  assertError(await post(first, workers, key, '{'), 'invalid_request');
  assertError(await post(first, workers, key, { name: 'x' }, { key: null }), 'unauthorized');
  const limited = await first.makeKey({ scopes: ['workers:read'] });
  assertError(await post(first, workers, key, { name: 'x' }, { key: limited }), 'forbidden');
  assert.equal((await post(first, workers, key, { name: 'Corrected' })).status, 201);
});

test('a client that hangs up can repeat its request and creates only one resource', async () => {
  const names = Array.from({ length: 10 }, () => randomUUID());
  await Promise.all(names.map(hangUp));
  for (const name of names) {
    const answer = await waitUntil(async () => {
      const answer = await post(first, vaults, name, { name });
      return answer.status !== 409 && answer;
    });
    assert.equal(answer.status, 201, answer.text);
    assert.equal(await count('vaults', name), 1);
  }
});

/** Sends a request whole and closes the connection without waiting for the answer. */
function hangUp(name: string): Promise<void> {
  const headers = { 'x-api-key': first.key, 'content-type': 'application/json', 'idempotency-key': name };
  return new Promise((resolve) => {
    const sent = request(first.url + vaults, { method: 'POST', headers, agent: false });
    sent.on('error', () => {});
    sent.on('close', resolve);
    sent.end(JSON.stringify({ name }), () => setImmediate(() => sent.destroy()));
  });
}

test('the same key on another route or in another workspace is another key', async () => {
  const key = randomUUID();
  const stranger = await first.makeKey({ newWorkspace: true });
  const answers = [
    await post(first, vaults, key, { name: key }),
    await post(first, workers, key, { name: key }),
    await post(first, vaults, key, { name: key }, { key: stranger }),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 201, 201],
  );
  assert.equal(new Set(answers.map(({ json }) => json.address)).size, 3);
  const another = await post(first, vaults, key, { name: 'other' }, { key: stranger });
  assertError(another, 'idempotency_key_reused');
});

test('another API key of the same workspace gets the same answer, if it has the scope', async () => {
  const key = randomUUID();
  const made = await post(first, vaults, key, { name: 'x' });
  const colleague = await first.makeKey({ scopes: ['vaults:write'] });
  assert.equal((await post(first, vaults, key, { name: 'x' }, { key: colleague })).text, made.text);
  const reader = await first.makeKey({ scopes: ['vaults:read'] });
  assertError(await post(first, vaults, key, { name: 'x' }, { key: reader }), 'forbidden');
});

test('keeps an answer for exactly 24 hours', async () => {
  for (const creation of creations) {
    const { path, table, member } = creation;
    const key = randomUUID();
    const body = bodyOf(creation, key);
    const made = await post(first, path, key, body);
    const age = async (hours: number) => {
      const at = [`${hours} hours`];
      await sql('update idempotent_answers set created_at = now() - $1::interval', at);
      await sql(
        "update secrets set created_at = now() - $1::interval where purpose = 'idempotent-answer'",
        at,
      );
    };
    await age(23);
    assert.equal((await post(second, path, key, body)).text, made.text);
    await age(25);
    const anew = await post(second, path, key, body);
    assert.equal(anew.status, 201, anew.text);
    assert.notEqual(anew.text, made.text);
    assert.equal(await count(table, key, member), 2);
    await age(25);
    assert.equal((await post(second, path, key, bodyOf(creation, `${key} other`))).status, 201);
  }
});

test('repeats the secret of an endpoint only to the key that asked, and stores it sealed', async () => {
  const [creation] = creations.slice(-1);
  assert.ok(creation);
  const key = randomUUID();
  const body = bodyOf(creation, key);
  const made = await post(first, creation.path, key, body);
  assert.match(made.json.secret, /^whsec_/);
  const colleague = await first.makeKey({ scopes: ['webhooks:write'] });
  const other = await post(first, creation.path, key, body, { key: colleague });
  assertError(other, 'idempotency_key_reused');
  const rows = await storedAnswers(database.url, creation.path, key);
  assert.equal(rows.length, 1);
  assert.ok(!rows[0]?.includes(made.json.secret));
});

test('two replay requests with one key start one replay, and a dry run stores nothing', async () => {
  const things = await makeThings(first);
  const path = `/api-v1/platform/webhooks/endpoints/${things.endpointId}/replay`;
  const replay = { from: '2020-01-01T00:00:00Z', to: '2090-01-01T00:00:00Z' };
  const key = randomUUID();
  const made = await post(first, path, key, replay);
  assert.equal(made.status, 202, made.text);
  for (const node of [first, second, first, second]) {
    const { status, text } = await post(node, path, key, replay);
    assert.deepEqual([status, text], [202, made.text]);
  }
  const { rows } = await sql('select count(*) from webhook_replays where endpoint_id = $1', [
    things.endpointId,
  ]);
  assert.equal(Number(rows[0].count), 2, 'the one of the things, and this one');
  assertError(await post(first, path, key, { ...replay, dryRun: true }), 'idempotency_key_reused');
  const dry = randomUUID();
  for (let turn = 0; turn < 2; turn += 1) {
    const counted = await post(first, path, dry, { ...replay, dryRun: true });
    assert.deepEqual([counted.status, counted.headers.get('idempotency-replayed')], [200, null]);
  }
});

test('the database has neither a new API key nor its answer in clear text', async () => {
  const name = randomUUID();
  const made = await post(first, keys, randomUUID(), { name });
  const { key } = made.json;
  assert.equal((await first.call('GET', vaults, { key })).status, 200);
  const secret = key.slice(made.json.hint.length - 1);
  const traces = [key, secret, made.text, '"key":"hf_', '\\"key\\":'].flatMap((text) => [
    text,
    Buffer.from(text).toString('hex'),
    Buffer.from(text).toString('base64').slice(0, -4),
  ]);
  const tables = await sql(
    "select table_name as name from information_schema.tables where table_schema = 'public'",
  );
  let seen = '';
  for (const { name: table } of tables.rows) {
    const { rows } = await sql(`select to_json(t)::text as row from ${table} t`);
    seen += rows.map(({ row }) => row).join('\n');
  }
  assert.ok(seen.includes(name) && seen.includes(made.json.id));
  for (const trace of traces) assert.ok(trace.length > 3 && !seen.includes(trace), `found ${trace}`);
  for (const node of [first, second]) assert.ok(!node.logged().includes(secret));
});

test('answers survive a restart, even those with a secret', async () => {
  const key = randomUUID();
  const made: Answer[] = [];
  for (const creation of creations) made.push(await post(second, creation.path, key, bodyOf(creation, key)));
  await second.close();
  second = await startService({ env, databaseUrl: database.url });
  for (const [turn, creation] of creations.entries()) {
    const again = await post(second, creation.path, key, bodyOf(creation, key));
    assert.deepEqual([again.status, again.text], [201, made[turn]?.text]);
  }
});
