/** Bad input on every route, field by field as its schema has them: 400, the field is named, nothing is stored. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { assertError } from '../support/openapi/openapi-answers.ts';
import {
  credentialsFor,
  fillPath,
  type Operation,
  readOperations,
  type Schema,
  smallest,
  smallestRequest,
  typesOf,
  webhookSettings,
} from '../support/openapi/openapi-operations.ts';
import { makeThings } from '../support/openapi/openapi-things.ts';
import { type Answer, type Service, startService } from '../support/service/service.ts';

const vaults = '/api-v1/platform/vaults';
/** Of a walk over all routes, on a machine that has much else to do. */
const timeout = 600_000;
const badChecksum = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD';

let service: Service;
let operations: Operation[];
let values: Record<string, string>;
let client: pg.Client;
let digestsText: string | undefined;

before(async () => {
  // Without loops nothing changes in the database but by a request.
  service = await startService({ env: webhookSettings, runLoops: false });
  operations = (await readOperations(service)).filter(({ path }) => path.startsWith('/api-v1/'));
  values = await makeThings(service);
  client = new pg.Client({ connectionString: service.databaseUrl });
  await client.connect();
});
after(async () => {
  await client.end();
  await service.close();
});

test('every field of every body refuses what its schema forbids, and nothing is stored', {
  timeout,
}, async (t) => {
  const before = await everythingStored();
  // Every body is read by the same code: where that would run out of stack, once.
  let levels = 10_000;
  for (const operation of operations) {
    const { body } = operation;
    if (!body) continue;
    await t.test(operation.name, async () => {
      const places = placesIn(body);
      const deep = places[0] ? tooDeep(places[0], levels) : [];
      if (deep.length > 0) levels = 100;
      const wrong = [...wrongMembers([], body), ...places.flatMap(wrongValues), ...deep];
      await inTens(wrong, async ({ path, raw }, turn) => {
        const { headers, ...who } = credentialsFor(operation, values);
        const answer = await service.call(operation.method, fillPath(operation, values), {
          ...who,
          body: put(body, smallest(body), path, raw),
          headers: { ...headers, 'idempotency-key': `never-kept-${turn}` },
        });
        assertRefused(answer, nameOf(path), `${nameOf(path)} = ${raw?.slice(0, 40)}`);
      });
      assert.deepEqual(await everythingStored(), before);
    });
  }
});

test('an address in the path must be valid, with a correct checksum if it is in mixed case', async () => {
  const before = await everythingStored();
  const digits = 'a'.repeat(40);
  const wrong = [
    '0x',
    '0x123',
    digits,
    `0X${digits}`,
    `0x${digits}a`,
    `0x${'g'.repeat(40)}`,
    badChecksum,
    `0x${digits} `,
  ];
  for (const operation of operations) {
    const addresses = operation.parameters.filter(
      ({ in: place, schema }) => place === 'path' && schema.format === 'address',
    );
    const who = credentialsFor(operation, values);
    for (const { name } of addresses) {
      for (const value of wrong) {
        const path = fillPath(operation, { ...values, [name]: value });
        assertError(
          await service.call(operation.method, path, who),
          'invalid_address',
          new RegExp(`^${name} `),
        );
      }
      const path = fillPath(operation, { ...values, [name]: 'a\0b' });
      assertError(
        await service.call(operation.method, path, who),
        'invalid_request',
        new RegExp(`^${name} .*NUL`),
      );
    }
  }
  assert.deepEqual(await everythingStored(), before);
});

test('checks each query parameter, and refuses unknown ones', { timeout }, async (t) => {
  const before = await everythingStored();
  for (const operation of operations) {
    await t.test(operation.name, async () => {
      const wrong = ['surprise=1', '__proto__=1', 'constructor=1', 'limit[]=1', 'Limit=1', '=1'];
      for (const { name, schema } of operation.parameters.filter((parameter) => parameter.in === 'query')) {
        const texts = ['', 'a%00b', ...wrongTexts(schema)];
        wrong.push(...texts.map((text) => `${name}=${text}`), `${name}=1&${name}=1`, `${name}`);
      }
      await inTens(wrong, async (query) => {
        const body = operation.body ? { body: smallest(operation.body) } : {};
        const name = /^\w+(\[\])?/.exec(query)?.[0] ?? '';
        const path = `${fillPath(operation, values)}?${[...needed(operation, name), query].join('&')}`;
        const options = { ...credentialsFor(operation, values), ...body };
        assertRefused(await service.call(operation.method, path, options), name, query);
      });
      assert.deepEqual(await everythingStored(), before);
    });
  }
});

test('the largest possible version or sign-off number is 404, not an error', async () => {
  const asked = operations.filter(({ method, parameters }) => {
    const isNumber = ({ name, schema }: { name: string; schema: Schema }) =>
      name !== 'limit' && schema.maximum === 2 ** 31 - 1;
    return method === 'GET' && parameters.some(isNumber);
  });
  assert.ok(asked.length > 5);
  for (const operation of asked) {
    const [, path, options] = smallestRequest(operation, { ...values, number: String(2 ** 31 - 1) });
    const inQuery = operation.parameters.some(({ name }) => name === 'version');
    const asking = inQuery ? `${path}${path.includes('?') ? '&' : '?'}version=${2 ** 31 - 1}` : path;
    assertError(await service.call('GET', asking, options), 'resource_not_found');
  }
});

test('limit accepts 1 to 1000', async () => {
  for (const limit of ['1', '1000']) {
    assert.equal((await service.call('GET', `${vaults}?limit=${limit}`)).status, 200, limit);
  }
});

test('an absent, empty or blank body counts as {}', async () => {
  const path = `${vaults}/${values.vaultAddress}`;
  const { json: vault } = await service.call('GET', path);
  for (const body of [undefined, '', ' \r\n\t', '{}', {}]) {
    const unchanged = await service.call('PUT', path, { body });
    assert.deepEqual([unchanged.status, unchanged.json], [200, vault]);
    assertError(await service.call('POST', vaults, { body }), 'invalid_request', /^name is required/);
    assert.equal((await service.call('PATCH', `${path}/reactivate`, { body })).status, 200);
  }
  const typed = { headers: { 'content-type': 'application/json' } };
  assert.equal((await service.call('PATCH', `${path}/reactivate`, typed)).status, 200);
  assert.equal(
    (await service.call('DELETE', `/api-v1/platform/api-keys/${values.keyId}`, typed)).status,
    204,
  );
});

test('lengths count characters, not code units, and text comes back unchanged', async () => {
  const name = '𝔸'.repeat(200);
  const description = '" \\ \u2028 <script> e\u0301 👩‍👩‍👧\r\n\t\u007f';
  const made = await service.call('POST', vaults, { body: { name, description } });
  assert.equal(made.status, 201, made.text);
  const found = await service.call('GET', `${vaults}/${made.json.address}`);
  assert.deepEqual([found.json.name, found.json.description], [name, description]);
  assertError(
    await service.call('POST', vaults, { body: { name: `${name}𝔸` } }),
    'invalid_request',
    /^name .*200/,
  );
});

/** Texts that are compared, looked up or checked by rules of their own, and shown to nobody as they came. */
const notForReading =
  /^(id|cursor|token|password|signature|url|recordId|\w*[fF]ileIds?|maintenanceIds|gtin|serial|giai|completedBy|supersedes|closes)$/;

test('every text that people read refuses marks that change its direction', async () => {
  const open = operations.flatMap(({ name, body }) =>
    placesIn(body ?? {})
      .filter(
        ({ schema }) => typesOf(schema).includes('string') && !schema.enum && schema.const === undefined,
      )
      .filter(({ schema: { format, pattern = '' } }) => format === undefined && !pattern.startsWith('^'))
      .map(({ path }) => ({ name, field: String(path.filter((step) => typeof step === 'string').at(-1)) }))
      .filter(({ field }) => !notForReading.test(field))
      .map(({ field }) => `${name}: ${field} should be a plainText`),
  );
  assert.deepEqual(open, []);
  for (const mark of '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069') {
    const answer = await service.call('POST', vaults, { body: { name: `invoice${mark}fdp.exe` } });
    assertError(
      answer,
      'invalid_request',
      /^name must not contain characters that change the text direction/,
    );
  }
  const { json } = await service.call('POST', vaults, { body: { name: 'כספת ראשית' } });
  assert.equal(json.name, 'כספת ראשית', 'no mark is needed to write from right to left');
});

test('refuses an expiry beyond the calendar of the database, instead of failing', async () => {
  for (const expiresAt of ['9999-12-31T23:59:59-23:59', '9999-12-31T23:59:59.999-00:01']) {
    const answer = await service.call('POST', '/api-v1/platform/api-keys', {
      body: { name: 'x', expiresAt },
    });
    assert.ok(answer.status === 201 || answer.status === 400, answer.text);
  }
});

/** Some at a time: each alone would leave the service idle for most of the time. */
async function inTens<T>(all: T[], work: (one: T, turn: number) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += 10)
    await Promise.all(all.slice(at, at + 10).map((one, turn) => work(one, at + turn)));
}

/** What the query must have beside the parameter that is tried out. */
function needed({ parameters }: Operation, tried: string): string[] {
  return parameters
    .filter(({ in: place, name, required }) => place === 'query' && required && name !== tried)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(smallest(schema)))}`);
}

interface Wrong {
  path: Place['path'];
  /** Raw JSON for that place; null: leave it out. */
  raw: string | null;
}

interface Place {
  path: (string | number)[];
  schema: Schema;
  required: boolean;
}

/** Every place of a body that has a schema: members, items, members of items. */
function placesIn(schema: Schema, path: Place['path'] = []): Place[] {
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => ({
    path: [...path, name],
    schema: member,
    required: schema.required?.includes(name) ?? false,
  }));
  const items = schema.items ? [{ path: [...path, 0], schema: schema.items, required: false }] : [];
  return [...members, ...items].flatMap((place) => [place, ...placesIn(place.schema, place.path)]);
}

function wrongValues({ path, schema, required }: Place): Wrong[] {
  const json = wrongTexts(schema).map((text) => JSON.stringify(text));
  const allowed = typesOf(schema);
  for (const [type, sample] of typeSamples) {
    const isNumber = type === 'integer' && allowed.includes('number');
    if (!allowed.includes(type) && !isNumber) json.push(sample);
  }
  if (allowed.includes('string')) json.push('"a\\u0000b"', '"\\ud800"', '"\\udc00\\ud800"');
  const item = smallest(schema.items ?? {});
  if (schema.maxItems !== undefined) json.push(JSON.stringify(Array(schema.maxItems + 1).fill(item)));
  if (schema.uniqueItems) json.push(JSON.stringify([item, item]));
  const wrong: Wrong[] = json.map((raw) => ({ path, raw }));
  if (required) wrong.push({ path, raw: null });
  return allowed.includes('object') ? [...wrong, ...wrongMembers(path, schema)] : wrong;
}

/** Once for a body: it is read before anything in it has a meaning. */
function tooDeep({ path }: Place, levels: number): Wrong[] {
  const lists = '['.repeat(levels) + ']'.repeat(levels);
  const objects = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  return [lists, objects].map((raw) => ({ path, raw }));
}

const typeSamples = [
  ['null', 'null'],
  ['boolean', 'true'],
  ['integer', '42'],
  ['number', '1e999'],
  ['number', '-0.5'],
  ['string', '"text"'],
  ['array', '[]'],
  ['array', '["text"]'],
  ['object', '{}'],
] as const;

/** Texts that a value with this schema must not be. */
function wrongTexts(schema: Schema): string[] {
  const { maxLength, minLength = 0, format, pattern, maximum, minimum } = schema;
  const texts: string[] = [];
  if (maxLength !== undefined) texts.push('x'.repeat(maxLength + 1));
  if (minLength > 0 && typesOf(schema).includes('string')) texts.push('');
  if (pattern !== undefined)
    texts.push(...[' ', '\t\n', '\u00a0\u2003'].filter((text) => !new RegExp(pattern, 'u').test(text)));
  if (schema.enum) texts.push('nonsense', String(schema.enum[0]).toUpperCase());
  if (format === 'address') texts.push('', '0x1', badChecksum, 'a'.repeat(40), `0x${'a'.repeat(41)}`);
  if (format === 'date-time')
    texts.push(
      '',
      'soon',
      '2030-01-31',
      '2030-02-30T00:00:00Z',
      '2030-01-31T00:00:00',
      '2030-01-31T25:00:00Z',
    );
  if (format === 'plain-text')
    texts.push(...['\u202e', '\u2066', '\u200f', '\u061c'].map((mark) => `a${mark}b`));
  if (format === 'date') texts.push('', '2030-02-30', '2030-1-1', '2030-01-31T00:00:00Z');
  if (typesOf(schema).includes('integer')) texts.push('abc', '1.5', '1e999', 'null', 'true');
  if (minimum !== undefined) texts.push(String(minimum - 1));
  if (maximum !== undefined) texts.push(String(maximum + 1));
  return texts;
}

/** Members that an object must not have. */
function wrongMembers(path: Place['path'], schema: Schema): Wrong[] {
  if (schema.additionalProperties !== false) return [];
  const members = ['surprise', '__proto__', 'constructor', 'toString', 'Name', ''];
  return members.map((member) => ({ path: [...path, member], raw: '{"polluted":true}' }));
}

/** A valid body as JSON, but with the raw JSON at one place, or without that place. */
function put(schema: Schema, valid: unknown, path: Place['path'], raw: string | null): string {
  const [step, ...rest] = path;
  if (step === undefined) return raw ?? '';
  const inside = typeof step === 'number' ? schema.items : schema.properties?.[step];
  const present = (valid as Record<string, unknown>)[step] ?? smallest(inside ?? {});
  const json = rest.length === 0 ? raw : put(inside ?? {}, present, rest, raw);
  if (typeof step === 'number') return `[${json ?? ''}]`;
  const members = Object.entries(valid as object)
    .filter(([name]) => name !== step)
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  if (json !== null) members.push(`${JSON.stringify(step)}:${json}`);
  return `{${members.join(',')}}`;
}

function nameOf(path: Place['path']): string {
  return path.reduce<string>(
    (name, step) => (typeof step === 'number' ? `${name}[${step}]` : name === '' ? step : `${name}.${step}`),
    '',
  );
}

function assertRefused(answer: Answer, names: string, what: string): void {
  assertError(answer);
  assert.equal(answer.status, 400, `${what}: ${answer.text}`);
  if (answer.json.errorCode === 'invalid_cursor') return;
  assert.ok(answer.json.message.includes(names), `${what} is not named in ${answer.json.message}`);
}

/** A digest of every table; asked often, so the statement is made and prepared once. */
async function everythingStored(): Promise<Record<string, string>> {
  digestsText ??= await digestsOfTables();
  const { rows } = await client.query({ name: 'digests', text: digestsText });
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}

async function digestsOfTables(): Promise<string> {
  const { rows } = await client.query(
    "select table_name as name from information_schema.tables where table_schema = 'public' order by 1",
  );
  return rows
    .map(
      ({ name }) =>
        `select '${name}' as name, count(*) || ' ' || md5(coalesce(string_agg(t::text, '' order by t::text), '')) as digest from ${name} t`,
    )
    .join(' union all ');
}
