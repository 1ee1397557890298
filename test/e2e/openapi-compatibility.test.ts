/** The comparison of OpenAPI documents, one kind of change at a time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareDocuments, type Json } from '../support/openapi/openapi-compatibility.ts';

/** A small document with one operation that has everything the comparison looks at. */
function sample(): Json {
  const item = {
    type: 'object',
    required: ['id', 'size'],
    properties: {
      id: { type: 'string' },
      size: { type: 'integer' },
      at: { type: ['string', 'null'], format: 'date-time' },
      kind: { type: 'string', enum: ['a', 'b'] },
      more: { type: 'object', additionalProperties: { type: 'string' } },
    },
  };
  const body = {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 10 },
      kind: { type: 'string', enum: ['a', 'b'] },
      size: { type: 'integer', minimum: 0, maximum: 9 },
      tags: { type: 'array', items: { type: 'string' }, maxItems: 3 },
      where: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      when: { type: 'string' },
    },
  };
  return {
    openapi: '3.1.0',
    info: { title: 'Sample', version: '1' },
    servers: [{ url: '/' }],
    paths: {
      '/things': {
        get: {
          responses: { 200: { content: { 'application/json': { schema: { type: 'array', items: item } } } } },
        },
        post: {
          operationId: 'createThing',
          security: [],
          parameters: [
            { in: 'query', name: 'limit', schema: { type: 'integer', maximum: 10 } },
            { in: 'header', name: 'trace', schema: { type: 'string' } },
          ],
          requestBody: { content: { 'application/json': { schema: body } } },
          responses: {
            200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
            '4XX': { headers: { 'Retry-After': {} }, content: { 'application/json': { schema: {} } } },
          },
        },
      },
      '/other': { get: { responses: {} } },
    },
    components: { schemas: { Thing: structuredClone(item), Unused: { type: 'object' } } },
  };
}

interface Places {
  document: Json;
  get: Json;
  post: Json;
  body: Json;
  item: Json;
  thing: Json;
}

/** The sample with one thing changed. */
function changed(change: (places: Places) => void): Json {
  const document = sample();
  const { get, post } = document.paths['/things'];
  const body = post.requestBody.content['application/json'].schema;
  const item = get.responses[200].content['application/json'].schema.items;
  change({ document, get, post, body, item, thing: document.components.schemas.Thing });
  return document;
}

const breaking: [what: string, change: (places: Places) => void, expected: RegExp][] = [
  ['a path is gone', ({ document }) => delete document.paths['/other'], /^\/other is gone$/],
  ['a method is gone', ({ document }) => delete document.paths['/things'].get, /^GET \/things is gone$/],
  ['a response is gone', ({ post }) => delete post.responses[200], /^POST \/things 200 is gone$/],
  [
    'a media type is gone',
    ({ post }) => delete post.responses[200].content['application/json'],
    /application\/json is gone$/,
  ],
  [
    'a response header is gone',
    ({ post }) => delete post.responses['4XX'].headers,
    /header Retry-After is gone$/,
  ],
  [
    'a response member is gone',
    ({ item }) => delete item.properties.at,
    /^GET \/things 200\[\]: at is gone$/,
  ],
  [
    'a referenced member is gone',
    ({ thing }) => delete thing.properties.at,
    /^POST \/things 200: at is gone$/,
  ],
  ['a response member may be absent', ({ item }) => item.required.pop(), /size is no longer always there$/],
  [
    'a response member changes its type',
    ({ item }) => (item.properties.size.type = 'string'),
    /size: the type was integer and is string$/,
  ],
  [
    'a response member may be null',
    ({ item }) => (item.properties.id.type = ['string', 'null']),
    /id: the type was string/,
  ],
  [
    'a response number is no longer whole',
    ({ item }) => (item.properties.size.type = 'number'),
    /is number$/,
  ],
  ['a response member loses its type', ({ item }) => delete item.properties.size.type, /is any$/],
  [
    'a response format changes',
    ({ item }) => (item.properties.at.format = 'date'),
    /format was date-time and is date$/,
  ],
  [
    'values of a map change',
    ({ item }) => (item.properties.more.additionalProperties.type = 'integer'),
    /more\.\*: the type/,
  ],
  ['a parameter is gone', ({ post }) => post.parameters.pop(), /header parameter trace is gone$/],
  [
    'a parameter becomes required',
    ({ post }) => (post.parameters[0].required = true),
    /limit is now required$/,
  ],
  [
    'a parameter is new and required',
    ({ post }) => post.parameters.push({ in: 'query', name: 'x', required: true, schema: {} }),
    /query parameter x is new and required$/,
  ],
  ['a parameter takes less', ({ post }) => (post.parameters[0].schema.maximum = 5), /maximum is now 5$/],
  [
    'a parameter changes its type',
    ({ post }) => (post.parameters[0].schema.type = 'string'),
    /the type was integer and is string$/,
  ],
  ['a request member is gone', ({ body }) => delete body.properties.size, /body: size is gone$/],
  ['a request member becomes required', ({ body }) => body.required.push('size'), /size is now required$/],
  [
    'a new request member is required',
    ({ body }) => {
      body.properties.x = {};
      body.required.push('x');
    },
    /x is now required$/,
  ],
  ['a request enum value is gone', ({ body }) => body.properties.kind.enum.pop(), /kind: no longer takes b$/],
  [
    'a request member gets an enum',
    ({ body }) => (body.properties.when.enum = ['now']),
    /no longer takes anything$/,
  ],
  ['a request choice is gone', ({ body }) => body.properties.where.anyOf.pop(), /choices in anyOf changed$/],
  [
    'a request member takes fewer types',
    ({ body }) => (body.properties.when.type = 'integer'),
    /when: the type was string/,
  ],
  [
    'a request member gets a format',
    ({ body }) => (body.properties.when.format = 'date'),
    /format was none and is date$/,
  ],
  [
    'a request member gets a pattern',
    ({ body }) => (body.properties.when.pattern = '^x$'),
    /the pattern is now \^x\$$/,
  ],
  ['a request text gets shorter', ({ body }) => (body.properties.name.maxLength = 9), /maxLength is now 9$/],
  [
    'a request text must be longer',
    ({ body }) => (body.properties.name.minLength = 2),
    /minLength is now 2$/,
  ],
  ['a request list gets shorter', ({ body }) => (body.properties.tags.maxItems = 2), /maxItems is now 2$/],
  [
    'request items must be unique',
    ({ body }) => (body.properties.tags.uniqueItems = true),
    /must now be unique$/,
  ],
  [
    'request items change their type',
    ({ body }) => (body.properties.tags.items.type = 'integer'),
    /tags\[\]: the type/,
  ],
  [
    'unknown request members are refused',
    ({ body }) => (body.additionalProperties = false),
    /unknown members are now refused$/,
  ],
  [
    'the body becomes required',
    ({ post }) => (post.requestBody.required = true),
    /the body is now required$/,
  ],
  ['the body is gone', ({ post }) => delete post.requestBody, /the body is gone$/],
  [
    'an operation is renamed',
    ({ post }) => (post.operationId = 'makeThing'),
    /^POST \/things is no longer called createThing$/,
  ],
  [
    'a named schema is gone',
    ({ document }) => delete document.components.schemas.Unused,
    /^the schema Unused is gone$/,
  ],
  ['an open operation needs a key', ({ post }) => (post.security = [{ apiKey: [] }]), /now needs a key$/],
];

for (const [what, change, expected] of breaking) {
  test(`calls it breaking if ${what}`, () => {
    const { breaks, differs } = compareDocuments(sample(), changed(change));
    assert.equal(breaks.length, 1, breaks.join('\n'));
    assert.match(breaks[0] ?? '', expected);
    assert.ok(differs);
  });
}

const additions: [what: string, change: (places: Places) => void][] = [
  ['a path', ({ document }) => (document.paths['/new'] = { get: { responses: {} } })],
  ['a method', ({ document }) => (document.paths['/other'].post = { responses: {} })],
  ['a response', ({ post }) => (post.responses[202] = {})],
  ['a response member', ({ item }) => (item.properties.x = { type: 'string' })],
  ['a promise that a response member is there', ({ item }) => item.required.push('at')],
  ['a response enum value', ({ item }) => item.properties.kind.enum.push('c')],
  ['an optional parameter', ({ post }) => post.parameters.push({ in: 'query', name: 'x', schema: {} })],
  ['an optional request member', ({ body }) => (body.properties.x = { type: 'string' })],
  ['freedom to leave a request member out', ({ body }) => body.required.pop()],
  ['a request enum value', ({ body }) => body.properties.kind.enum.push('c')],
  ['a request choice', ({ body }) => body.properties.where.anyOf.push({ type: 'null' })],
  ['a request type', ({ body }) => (body.properties.size.type = ['number', 'null'])],
  ['room for longer text', ({ body }) => (body.properties.name.maxLength = 11)],
  ['a description', ({ post }) => (post.description = 'Words')],
  ['an example', ({ post }) => (post.requestBody.content['application/json'].example = { name: 'x' })],
  ['examples to a schema', ({ item }) => (item.properties.id.examples = ['x'])],
];

for (const [what, change] of additions) {
  test(`calls it compatible to add ${what}, but notices it`, () => {
    assert.deepEqual(compareDocuments(sample(), changed(change)), { breaks: [], differs: true });
  });
}

test('ignores another server address or version', () => {
  const other = changed(({ document }) => {
    document.servers = [{ url: 'https://example.org' }];
    document.info.version = '2';
  });
  assert.deepEqual(compareDocuments(sample(), other), { breaks: [], differs: false });
});

test('compares a recursive schema only once', () => {
  const tree = (leaf: string) =>
    changed(({ document, thing }) => {
      thing.properties.child = { $ref: '#/components/schemas/Thing' };
      thing.properties.leaf = { type: leaf };
      document.info.title = 'Tree';
    });
  assert.deepEqual(compareDocuments(tree('string'), tree('string')).breaks, []);
  assert.equal(compareDocuments(tree('string'), tree('integer')).breaks.length, 1);
});
