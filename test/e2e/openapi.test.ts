/** The OpenAPI document: valid, complete, and never less than what was accepted before. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { cookiePrefix } from '../../src/access/people/sign-in.ts';
import { eventTypes } from '../../src/events/catalogue.ts';
import { errorKinds } from '../../src/runtime/errors.ts';
import { compareDocuments, type Json } from '../support/openapi/openapi-compatibility.ts';
import { withoutReferences } from '../support/openapi/openapi-references.ts';
import { type Service, startService } from '../support/service/service.ts';

let service: Service;
let document: Json;
/** Every operation below /api-v1, by method and path. */
let operations: [name: string, operation: Json][];

before(async () => {
  service = await startService({ runLoops: false });
  document = (await service.call('GET', '/openapi.json', { key: null })).json;
  operations = Object.entries<Json>(withoutReferences(document).paths)
    .filter(([path]) => path.startsWith('/api-v1/'))
    .flatMap(([path, item]) =>
      Object.entries<Json>(item).map(([method, operation]): [string, Json] => [
        `${method} ${path}`,
        operation,
      ]),
    );
});
after(() => service.close());

test('the document is valid OpenAPI 3.1', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  assert.ok(valid, JSON.stringify(errors, null, 2));
  assert.match(document.openapi, /^3\.1\./);
});

test('every operation says what it does, who may call it, and how it fails', () => {
  const tags = document.tags.map(({ name }: Json) => name);
  assert.notEqual(operations.length, 0);
  for (const [name, operation] of operations) {
    assert.match(operation.summary ?? '', /^[A-Z].{5,}[^.]$/, name);
    assert.ok(operation.tags?.length === 1 && tags.includes(operation.tags[0]), `${name} has no known tag`);
    assertAccess(name, operation);
    const statuses = Object.keys(operation.responses);
    assert.ok(
      statuses.some((status) => /^2\d\d$/.test(status)),
      `${name} has no success`,
    );
    for (const failure of ['4XX', '5XX']) {
      const { schema } = operation.responses[failure].content['application/json'];
      assert.deepEqual(schema.required, ['message', 'errorCode', 'docUrl', 'timestamp'], name);
    }
  }
  const { apiKey, session } = document.components.securitySchemes;
  assert.equal(apiKey.name, 'x-api-key');
  assert.equal(session.name, `${cookiePrefix}.session_token`);
});

test('every operation has a unique name, by which clients call it', () => {
  const all = Object.values<Json>(document.paths).flatMap((item) => Object.values<Json>(item));
  const names = all.map(({ operationId = '' }) => operationId);
  for (const name of names) assert.match(name, /^[a-z]+[A-Z][A-Za-z]*$/);
  assert.equal(new Set(names).size, names.length);
});

test('describes what webhook receivers get, for every type of event', () => {
  assert.deepEqual(Object.keys(document.webhooks), eventTypes);
  for (const [type, { post }] of Object.entries<Json>(document.webhooks)) {
    const { $ref } = post.requestBody.content['application/json'].schema;
    const { properties } = document.components.schemas[$ref.split('/').at(-1)];
    assert.equal(properties.type.const, type);
    assert.deepEqual(properties.data.required, Object.keys(properties.data.properties));
  }
});

test('lists what answers have in common once, by name', () => {
  const { schemas } = document.components;
  for (const name of [
    'Vault',
    'Record',
    'File',
    'Asset',
    'Maintenance',
    'Signoff',
    'Worker',
    'Endpoint',
    'Event',
    'Proof',
  ])
    assert.equal(schemas[name]?.type, 'object', name);
  assert.deepEqual(schemas.Error.required, ['message', 'errorCode', 'docUrl', 'timestamp']);
  for (const item of Object.values<Json>(document.paths)) {
    for (const { responses, operationId } of Object.values<Json>(item)) {
      for (const [status, { content, description }] of Object.entries<Json>(responses)) {
        assert.ok(description.length > 10 && description !== 'Default Response', `${operationId} ${status}`);
        const { schema } = content?.['application/json'] ?? {};
        const whole = schema?.type === 'object' && Object.keys(schema.properties ?? {}).length > 2;
        assert.ok(!whole, `${operationId} ${status} answers with a schema that has no name`);
      }
    }
  }
});

/** Open to whoever has the link that an invitation is, and to nobody who has not. */
const openPaths = [
  'post /api-v1/platform/invitations/look',
  'post /api-v1/platform/invitations/accept',
  'post /api-v1/damc/passkeys/options',
  'post /api-v1/damc/passkeys/register',
  'post /api-v1/damc/passkeys/open',
  'post /api-v1/damc/passkeys/sign',
  'post /api-v1/damc/sign-requests/open',
  'post /api-v1/damc/sign-requests/file',
  'post /api-v1/damc/sign-requests/sign',
  'post /api-v1/platform/webhooks/portal/open',
  'post /api-v1/platform/webhooks/portal/deliveries',
  'post /api-v1/platform/webhooks/portal/delivery',
  'post /api-v1/platform/webhooks/portal/retry',
  'post /api-v1/platform/webhooks/portal/test',
  'post /api-v1/platform/webhooks/portal/change-url',
  'post /api-v1/platform/webhooks/portal/secret',
  'post /api-v1/platform/webhooks/portal/rotate-secret',
];
/** What is decided in person, beside what is about people. */
const personPaths = [
  'put /api-v1/damc/workers/{address}/person/',
  'delete /api-v1/damc/workers/{address}/person/',
  'delete /api-v1/damc/workers/{address}/identity/',
  'post /api-v1/damc/workers/{address}/passkeys/{passkeyId}/confirm',
  'post /api-v1/damc/workers/{address}/passkeys/{passkeyId}/refuse',
  'put /api-v1/damc/signoffs/rules/',
  'put /api-v1/damc/signoffs/organisation/',
  'put /api-v1/damc/signoffs/rules/work/',
  'put /api-v1/damc/assets/{assetId}/rules/',
  'get /api-v1/platform/approval-rules',
  'put /api-v1/platform/approval-rules',
  'post /api-v1/platform/approvals/{approvalId}/approve',
  'post /api-v1/platform/approvals/{approvalId}/refuse',
];

function assertAccess(name: string, { security, description = '', tags }: Json): void {
  if (openPaths.includes(name)) {
    assert.deepEqual(security, [], name);
  } else if (tags[0] === 'people' || personPaths.includes(name)) {
    assert.deepEqual(security, [{ session: [] }], name);
    assert.match(description, /Only for people who are signed in\. Needs the role `[a-z]+`\.$/, name);
  } else {
    assert.deepEqual(security, [{ apiKey: [] }, { session: [] }], name);
    assert.match(description, /Needs the scope `[a-z]+:(read|write)`\.$/, name);
  }
}

test('a route that takes a file describes both the form and the hash alone', () => {
  const forms = operations.filter(([, { requestBody }]) => requestBody?.content['multipart/form-data']);
  assert.deepEqual(
    forms.map(([name]) => name),
    [
      'post /api-v1/platform/files',
      'post /api-v1/platform/files/{fileId}/versions',
      'post /api-v1/platform/files/{fileId}/validate',
    ],
  );
  for (const [name, { requestBody }] of forms) {
    assert.ok(requestBody.required, name);
    const { schema: form } = requestBody.content['multipart/form-data'];
    assert.equal(form.properties.file.format, 'binary', name);
    assert.ok(form.required.includes('file'), name);
    assert.ok(requestBody.content['application/json'].schema.required.includes('contentHash'), name);
  }
});

test('nothing optional is called required', () => {
  for (const [name, { parameters = [], requestBody }] of operations) {
    for (const parameter of parameters) {
      if (parameter.schema.default !== undefined)
        assert.ok(!parameter.required, `${name}: ${parameter.name} has a default and is required`);
    }
    for (const { schema } of Object.values<Json>(requestBody?.content ?? {})) {
      for (const member of schema.required ?? [])
        assert.equal(schema.properties[member].default, undefined, `${name}: ${member} has a default`);
    }
    const mustSend = requestBody?.content['application/json'].schema.required ?? [];
    if (requestBody && mustSend.length === 0)
      assert.ok(!requestBody.required, `${name}: an absent body is taken`);
  }
});

test('documents every header that a client needs where it is sent', () => {
  for (const [name, { responses, tags, parameters = [] }] of operations) {
    // The members of a workspace, their invitations and sessions are few, and come all at once.
    if (tags[0] === 'people') continue;
    // Many things made at once are an array too, but have no next page.
    const success = responses['200'];
    const isList = success?.content?.['application/json']?.schema.type === 'array';
    if (isList || parameters.some((parameter: Json) => parameter.name === 'limit')) {
      assert.ok(success.headers?.['X-Next-Cursor'], `${name} does not document X-Next-Cursor`);
    }
  }
});

test('the document offers no less than the accepted one, and no more until that is accepted', async () => {
  const file = join(import.meta.dirname, '../../docs/openapi.json');
  const { breaks, differs } = compareDocuments(JSON.parse(await readFile(file, 'utf8')), document);
  assert.deepEqual(breaks, [], 'this breaks clients of docs/openapi.json');
  assert.ok(
    !differs,
    'The document has changed without breaking a client: run "npm run openapi:accept" and commit it.',
  );
});

test('docs/api.md has every error code with its status, every event type, and every noun', async () => {
  const text = await readFile(join(import.meta.dirname, '../../docs/api.md'), 'utf8');
  const rows = text.split('\n').filter((line) => line.startsWith('|'));
  const has = (...cells: string[]) =>
    rows.some((row) => cells.every((cell, column) => row.split('|')[column + 1]?.trim() === cell));
  for (const [code, { status }] of Object.entries(errorKinds)) {
    assert.ok(has(`\`${code}\``, String(status)), `${code} (${status}) is not in docs/api.md`);
  }
  for (const type of eventTypes) assert.ok(has(`\`${type}\``), `${type} is not in docs/api.md`);
  const nouns = new Set(operations.map(([name]) => /\/api-v1\/(platform|damc)\/[a-z-]+/.exec(name)?.[0]));
  // The first of a row is written out; the others of the same place follow it in short.
  const short = new Set(['workspaces', 'members', 'invitations', 'sessions']);
  for (const noun of nouns) {
    const [, , place, last = ''] = noun?.split('/') ?? [];
    const written = short.has(last) ? `\`/${last}\`` : `\`/${place}/${last}`;
    assert.ok(
      rows.some((row) => row.includes(written)),
      `${noun} is not in docs/api.md`,
    );
  }
});
