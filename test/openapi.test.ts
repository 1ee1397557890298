/** The OpenAPI document: valid, complete, and never less than what was accepted before. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { compareDocuments, type Json } from './openapi-compatibility.ts';
import { type Service, startService } from './service.ts';

let service: Service;
let document: Json;
/** Every operation below /api-v1, by method and path. */
let operations: [name: string, operation: Json][];

before(async () => {
  service = await startService({ runLoops: false });
  document = (await service.call('GET', '/openapi.json', { key: null })).json;
  operations = Object.entries<Json>(document.paths)
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

test('every operation says what it does, to whom it is open, and how it fails', () => {
  const tags = document.tags.map(({ name }: Json) => name);
  assert.notEqual(operations.length, 0);
  for (const [name, operation] of operations) {
    assert.match(operation.summary ?? '', /^[A-Z].{5,}[^.]$/, name);
    assert.ok(operation.tags?.length === 1 && tags.includes(operation.tags[0]), `${name} has no known tag`);
    assert.deepEqual(operation.security, [{ apiKey: [] }], name);
    assert.match(operation.description ?? '', /Needs the scope `[a-z]+:(read|write)`\.$/, name);
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
  assert.equal(document.components.securitySchemes.apiKey.name, 'x-api-key');
});

test('nothing is called required that may be left out', () => {
  for (const [name, { parameters = [], requestBody }] of operations) {
    for (const parameter of parameters) {
      if (parameter.schema.default !== undefined)
        assert.ok(!parameter.required, `${name}: ${parameter.name} has a default and is required`);
    }
    const mustSend = requestBody?.content['application/json'].schema.required ?? [];
    if (requestBody && mustSend.length === 0)
      assert.ok(!requestBody.required, `${name}: an absent body is taken`);
  }
});

test('every header that a client needs is documented where it is sent', () => {
  for (const [name, { responses, parameters = [] }] of operations) {
    // Many things made at once are an array too, but have no next page.
    const success = responses['200'];
    const isList = success?.content?.['application/json']?.schema.type === 'array';
    if (isList || parameters.some((parameter: Json) => parameter.name === 'limit')) {
      assert.ok(success.headers?.['X-Next-Cursor'], `${name} does not document X-Next-Cursor`);
    }
  }
});

test('the document offers no less than the one accepted last, and no more either until that is accepted', async () => {
  const file = join(import.meta.dirname, '../docs/openapi.json');
  const { breaks, differs } = compareDocuments(JSON.parse(await readFile(file, 'utf8')), document);
  assert.deepEqual(breaks, [], 'this breaks clients of docs/openapi.json');
  assert.ok(
    !differs,
    'The document has changed without breaking a client: run "npm run openapi:accept" and commit it.',
  );
});
