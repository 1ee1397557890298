/** Records over HTTP: accepted, versioned, found again, and refused with nothing stored. */
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import canonicalize from 'canonicalize';
import { recordDigest } from '../../src/proof/content.ts';
import { timeOf } from '../../src/runtime/ids.ts';
import { assertError } from '../support/openapi/openapi-answers.ts';
import { anyCharacter, fc } from '../support/service/properties.ts';
import { type Answer, type CallOptions, type Service, startService } from '../support/service/service.ts';

const url = '/api-v1/platform/records';
const vaults = '/api-v1/platform/vaults';

let service: Service;
let vaultAddress: string;
let vaultId: string;
/** Of another workspace, with a vault of its own. */
let stranger: string;

before(async () => {
  service = await startService({ runLoops: false });
  ({ vaultAddress, vaultId } = await newVault());
  stranger = await service.makeKey({ newWorkspace: true });
});
after(() => service.close());

async function newVault(options: CallOptions = {}): Promise<{ vaultAddress: string; vaultId: string }> {
  const { json } = await service.call('POST', vaults, { body: { name: 'Cold room' }, ...options });
  return { vaultAddress: json.address, vaultId: json.id };
}

function create(data: unknown, more: object = {}, options: CallOptions = {}): Promise<Answer> {
  return service.call('POST', url, { body: { vaultAddress, data, ...more }, ...options });
}

async function made(data: unknown, more: object = {}): Promise<{ id: string; dataHash: string }> {
  const answer = await create(data, more);
  assert.equal(answer.status, 202, answer.text);
  return answer.json;
}

const sql: Service['sql'] = (text, values) => service.sql(text, values);

/** Rows of everything that a record could leave behind. */
async function stored(): Promise<number[]> {
  const { rows } = await sql(`
    select (select count(*) from anchor_leaves)::int as leaves,
      (select count(*) from audit_entries where action like 'record.%')::int as entries,
      (select count(*) from idempotent_answers)::int as answers`);
  return Object.values(rows[0]);
}

test('accepts a record as pending, and finds it again with its data', async () => {
  const answer = await create({ b: [1, 2.5, 'x'], a: { é: null } }, { externalId: 'reading 7' });
  assert.equal(answer.status, 202);
  const { id, createdAt, dataHash } = answer.json;
  assert.match(id, /^rec_[0-9A-Z]{26}$/);
  assert.equal(createdAt, timeOf(id).toISOString());
  assert.match(dataHash, /^0x[0-9a-f]{64}$/);
  assert.deepEqual(answer.json, {
    id,
    externalId: 'reading 7',
    vaultId,
    vaultAddress,
    version: 1,
    dataHash,
    erased: false,
    status: 'pending',
    createdAt,
    anchor: null,
  });
  const found = await service.call('GET', `${url}/${id}/`);
  assert.deepEqual(found.json, { ...answer.json, data: { b: [1, 2.5, 'x'], a: { é: null } } });
  assert.ok(found.text.includes('"data":{"a":{"é":null},"b":[1,2.5,"x"]}'), found.text);
});

test('refuses a date range that ends before it begins', async () => {
  const range = (from: string, to: string) => service.call('GET', `${url}?from=${from}&to=${to}`);
  const reversed = await range('2026-11-16T00:00:00Z', '2026-11-15T00:00:00Z');
  assert.deepEqual([reversed.status, reversed.json.errorCode], [400, 'invalid_date_range']);
  assert.equal((await range('2026-11-15T00:00:00Z', '2026-11-15T00:00:00Z')).status, 200);
});

test('a cursor is valid for its vault, however the address is written', async () => {
  for (const data of [{ n: 1 }, { n: 2 }]) await made(data);
  const first = await service.call('GET', `${url}?vaultAddress=${vaultAddress}&limit=1`);
  const next = first.headers.get('x-next-cursor');
  const second = `${url}?vaultAddress=${vaultAddress.toLowerCase()}&limit=1&cursor=${next}`;
  assert.equal((await service.call('GET', second)).status, 200);
});

test('a missing external id is empty, and an empty one is stored as none', async () => {
  for (const more of [{}, { externalId: '' }]) {
    const { json } = await create({}, more);
    assert.equal(json.externalId, '');
    const { rows } = await sql('select external_id from records where id = $1', [json.id]);
    assert.equal(rows[0].external_id, null);
  }
});

test('the data hash covers a unique salt and canonical JSON, as a browser computes it', async () => {
  const data = { temperature: -18.4, at: '2026-11-15T00:00:00Z', open: false };
  const [one, other] = [await made(data), await made(data)];
  assert.notEqual(one.dataHash, other.dataHash);
  const { rows } = await sql('select salt, data from records where id = $1', [one.id]);
  const [{ salt, data: text }] = rows;
  assert.equal(text, '{"at":"2026-11-15T00:00:00Z","open":false,"temperature":-18.4}');
  assert.equal(one.dataHash, recordDigest(salt, data));
  assert.equal(one.dataHash, `0x${createHash('sha256').update(salt).update(text).digest('hex')}`);
});

test('commits a leaf, salted claims and one audit entry with the record', async () => {
  const { id, dataHash } = await made({ a: 1 }, { externalId: 'E' });
  const { rows: leaves } = await sql(
    "select version, vault_id, '0x' || encode(digest, 'hex') as digest, previous_leaf, claims, batch_id from placed_leaves where subject_id = $1 and kind = 'record'",
    [id],
  );
  const [{ claims, ...leaf }] = leaves;
  const none = Buffer.alloc(32);
  assert.deepEqual(leaf, {
    version: 1,
    vault_id: vaultId,
    digest: dataHash,
    previous_leaf: none,
    batch_id: null,
  });
  const { salt, ...rest } = JSON.parse(claims);
  assert.match(salt, /^0x[0-9a-f]{64}$/);
  assert.deepEqual(rest, { externalId: 'E' });
  const { rows: entries } = await sql('select action, details from audit_entries where target_id = $1', [id]);
  assert.deepEqual(entries, [{ action: 'record.create', details: { vaultId } }]);
});

/** Objects of the kind that RFC 8785 has an opinion about; integers beyond 2^53 and NUL apart. */
const anyData = fc.dictionary(
  fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 8 }),
    fc.constantFrom(
      'constructor',
      'toString',
      'toJSON',
      '',
      '1',
      '10',
      '2',
      '\u20ac',
      '\ufb33',
      '😀',
      '\r',
      'é',
    ),
  ),
  fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constant(null),
      fc.boolean(),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Number.isInteger(n)),
      fc.constantFrom(-0, 5e-324, 1e-7, 1e-6, 0.1 + 0.2, 2 ** 53 - 1, 1 - 2 ** 53, 4.5e15 + 0.5),
      fc.string({ unit: anyCharacter }),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.string({ unit: anyCharacter, maxLength: 5 }), tie('value'), { maxKeys: 4 }),
    ),
  })).value,
  { maxKeys: 6 },
);

const storable = (data: unknown) => {
  const text = JSON.stringify(data);
  return !text.includes('\\u0000') && !text.includes('"__proto__":') && text.isWellFormed();
};

test('returns canonical data unchanged, with the hash of its RFC 8785 form', async () => {
  await fc.assert(
    fc.asyncProperty(anyData.filter(storable), async (data) => {
      const { id, dataHash } = await made(data);
      const { text, json } = await service.call('GET', `${url}/${id}`);
      assert.deepEqual(json.data, JSON.parse(JSON.stringify(data)));
      assert.ok(text.endsWith(`,"data":${canonicalize(data)}}`), text);
      const { rows } = await sql('select salt from records where id = $1', [id]);
      assert.equal(dataHash, recordDigest(rows[0].salt, data));
    }),
    { numRuns: 150 },
  );
});

test('one value in two spellings has one canonical form', async () => {
  const spellings = [
    '{"a":1.0,"b":"\\u00e9","c":[1e2,-0],"€":"\\/"}',
    ' { "€":"/" ,\n"c":[100, 0],"b":"é", "a":10e-1 } ',
  ];
  const texts = await Promise.all(
    spellings.map(async (data) => {
      const { json } = await service.call('POST', url, {
        body: `{"vaultAddress":"${vaultAddress}","data":${data}}`,
      });
      return (await sql('select data from records where id = $1', [json.id])).rows[0].data;
    }),
  );
  assert.deepEqual(texts, Array(2).fill('{"a":1,"b":"é","c":[100,0],"€":"/"}'));
});

const refused: [what: string, data: string, message: RegExp][] = [
  ['2^53', '{"a":{"n":9007199254740992}}', /^data\.a\.n .*2\^53/],
  [
    '2^53 + 1, which a parser rounds',
    '{"list":[0,9007199254740993]}',
    /^data\.list\[1\] would be read as 9007199254740992/,
  ],
  ['-(2^53)', '{"n":-9007199254740992}', /^data\.n /],
  ['an integer with an exponent', '{"n":1e30}', /^data\.n .*2\^53/],
  ['a number beyond the range of doubles', '{"n":1e400}', /^data\.n .*Infinity/],
  ['a NUL', '{"t":"a\\u0000b"}', /^data\.t .*NUL/],
  ['half of a surrogate pair', '{"t":["\\ud800"]}', /^data\.t\[0\] .*surrogate/],
  ['half of a pair in a name', '{"\\udc00":1}', /name .*surrogate/],
  ['__proto__', '{"__proto__":{"a":1}}', /__proto__/],
  ['a duplicate name', '{"a":1,"a":1}', /twice/],
  ['a nested duplicate name in two spellings', '{"x":[{"a":1,"\\u0061":2}]}', /twice/],
  ['deep nesting', `{"a":${'['.repeat(70)}${']'.repeat(70)}}`, /^data\.a\[0\].* 64 levels/],
  ['an array', '[]', /^data must be an object/],
  ['null', 'null', /^data must be an object/],
];

for (const [what, data, message] of refused) {
  test(`refuses data with ${what}, also in a batch or a version`, async () => {
    const { id } = await made({});
    const before = await stored();
    const send = (path: string, body: string) =>
      service.call('POST', path, { body, headers: { 'idempotency-key': 'never-kept' } });
    const single = await send(url, `{"vaultAddress":"${vaultAddress}","data":${data}}`);
    assertError(single, 'invalid_request', message);
    assertError(await send(`${url}/${id}/versions`, `{"data":${data}}`), 'invalid_request', message);
    const batch = await send(
      `${url}/batch`,
      `{"vaultAddress":"${vaultAddress}","records":[{"data":{}},{"data":${data}}]}`,
    );
    assertError(batch, 'invalid_request');
    const inBatch = message.source.startsWith('^')
      ? message.source.replace('^', '^records\\[1\\]\\.')
      : message.source;
    assert.match(batch.json.message, new RegExp(inBatch));
    assert.deepEqual(await stored(), before);
  });
}

test('an unknown or foreign vault is 404 for every write', async () => {
  const foreign = await newVault({ key: stranger });
  const before = await stored();
  for (const address of [foreign.vaultAddress, `0x${'1'.repeat(40)}`]) {
    const wrong = { vaultAddress: address };
    assertError(await create({}, wrong), 'resource_not_found', new RegExp(address));
    const batch = { ...wrong, records: [{ data: {} }] };
    assertError(await service.call('POST', `${url}/batch`, { body: batch }), 'resource_not_found');
    assertError(await service.call('GET', `${url}?vaultAddress=${address}`), 'resource_not_found');
  }
  assert.deepEqual(await stored(), before);
});

test('a record of another workspace is 404 on every route, and is in no list', async () => {
  const { id } = await made({ secret: 1 }, { externalId: 'canary' });
  for (const [method, path, body] of [
    ['GET', `${url}/${id}`],
    ['GET', `${url}/${id}?version=1`],
    ['GET', `${url}/${id}/versions`],
    ['GET', `${url}/${id}/proof`],
    ['POST', `${url}/${id}/versions`, { data: {} }],
  ] as const) {
    const options = { key: stranger, ...(body && { body }) };
    assertError(await service.call(method, path, options), 'resource_not_found');
  }
  for (const query of ['', '?externalId=canary', '?status=pending', '?status=finalized']) {
    assert.deepEqual((await service.call('GET', url + query, { key: stranger })).json, []);
  }
  assert.deepEqual((await service.call('GET', `${url}/${id}/versions`)).json.length, 1);
});

test('a deactivated vault refuses records, batches and versions, but can be read', async () => {
  const vault = await newVault();
  const body = { vaultAddress: vault.vaultAddress, data: { a: 1 } };
  const { json: record } = await service.call('POST', url, { body });
  await service.call('PATCH', `${vaults}/${vault.vaultAddress}/deactivate`);
  const before = await stored();
  const batch = { vaultAddress: vault.vaultAddress, records: [{ data: {} }] };
  for (const [path, sent] of [
    [url, body],
    [`${url}/batch`, batch],
    [`${url}/${record.id}/versions`, { data: {} }],
  ] as const) {
    assertError(await service.call('POST', path, { body: sent }), 'vault_deactivated');
  }
  assert.deepEqual(await stored(), before);
  assert.equal((await service.call('GET', `${url}/${record.id}`)).json.data.a, 1);
  await service.call('PATCH', `${vaults}/${vault.vaultAddress}/reactivate`);
  assert.equal((await service.call('POST', url, { body })).status, 202);
});

test('accepts a thousand records in one request: in order, with one audit entry and one answer', async () => {
  const records = Array.from({ length: 1000 }, (_, n) => ({
    data: { n },
    externalId: n % 2 ? `n-${n}` : '',
  }));
  const { status, json, text } = await service.call('POST', `${url}/batch`, {
    body: { vaultAddress, records },
  });
  assert.equal(status, 202, text);
  assert.deepEqual(
    json.map(({ externalId }: { externalId: string }) => externalId),
    records.map(({ externalId }) => externalId),
  );
  const ids = json.map(({ id }: { id: string }) => id);
  assert.deepEqual(ids, [...new Set(ids)].sort());
  const { rows } = await sql(
    `select r.data from unnest($1::text[]) with ordinality as wanted (id, place)
     join records r on r.id = wanted.id order by wanted.place`,
    [ids],
  );
  assert.deepEqual(
    rows,
    records.map(({ data }) => ({ data: JSON.stringify(data) })),
  );
  const { rows: entries } = await sql(
    "select target_id, details from audit_entries where action = 'record.create_batch' order by id desc limit 1",
  );
  assert.deepEqual(entries, [
    { target_id: vaultId, details: { count: 1000, first: ids[0], last: ids[999] } },
  ]);
});

test('a batch has 1 to 1000 records', async () => {
  const before = await stored();
  for (const [count, message] of [
    [0, /^records must have at least 1 item\./],
    [1001, /^records must have at most 1000/],
  ] as const) {
    const records = Array.from({ length: count }, () => ({ data: {} }));
    const answer = await service.call('POST', `${url}/batch`, { body: { vaultAddress, records } });
    assertError(answer, 'invalid_request', message);
  }
  assert.deepEqual(await stored(), before);
});

test('a record or a batch may be as large as a body, and beyond that is 413', async () => {
  const text = 'x'.repeat(1024 * 1024 - 150);
  const { id } = await made({ text });
  assert.equal((await service.call('GET', `${url}/${id}`)).json.data.text, text);
  const before = await stored();
  assertError(await create({ text: `${text}${'x'.repeat(200)}` }), 'payload_too_large', /1048576/);
  const batch = (count: number) =>
    service.call('POST', `${url}/batch`, {
      body: { vaultAddress, records: Array.from({ length: count }, () => ({ data: { text } })) },
    });
  assertError(await batch(2), 'payload_too_large', /1048576/);
  assert.deepEqual(await stored(), before);
  assert.equal((await batch(1)).status, 202);
});

test('a repeat with the same Idempotency-Key gets the first answer on every route, and creates nothing', async () => {
  const { id } = await made({});
  for (const [path, body] of [
    [url, { vaultAddress, data: { a: 1 } }],
    [`${url}/batch`, { vaultAddress, records: [{ data: {} }, { data: { b: 2 } }] }],
    [`${url}/${id}/versions`, { data: { a: 2 } }],
  ] as const) {
    const headers = { 'idempotency-key': randomUUID() };
    const first = await service.call('POST', path, { body, headers });
    assert.equal(first.status, 202, first.text);
    const after = await stored();
    const again = await service.call('POST', path, { body, headers });
    assert.deepEqual([again.status, again.text], [202, first.text]);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    const changed = { ...body, ...('records' in body ? { records: [{ data: {} }] } : { data: { c: 3 } }) };
    const other = await service.call('POST', path, { body: changed, headers });
    assertError(other, 'idempotency_key_reused');
    assert.deepEqual(await stored(), after);
  }
});

test('the proof of an unconfirmed record is a conflict', async () => {
  const { id } = await made({});
  assertError(await service.call('GET', `${url}/${id}/proof`), 'conflict');
  assertError(await service.call('GET', `${url}/${id}/proof?version=2`), 'resource_not_found');
});
