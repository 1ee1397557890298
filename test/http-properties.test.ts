/** Random requests to every route, made from its own schema: never a 5xx, always the documented shapes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { isAcceptableAddress } from '../src/address.ts';
import { withClient } from './database.ts';
import { longOnly } from './long.ts';
import { assertError, assertProblem, send } from './openapi-answers.ts';
import { allowedBy, allowedFor, anyJson, nearlyAllowedBy, weirdText } from './openapi-arbitraries.ts';
import {
  credentialsFor,
  namingExisting,
  type Operation,
  type PathValues,
  readOperations,
  type Schema,
  webhookSettings,
} from './openapi-operations.ts';
import { makeInvitation, makeMember, makeOwner, makeThings } from './openapi-things.ts';
import { fc } from './properties.ts';
import { type Answer, isEventStream, type Service, startService } from './service.ts';

/** Per route; other ones each time, so that many short runs find what a long one does. */
const numRuns = Number(process.env.HOLDFAST_FUZZ_RUNS ?? (longOnly ? 10 : 50));
const timeout = 60_000 + numRuns * 5_000;

const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addFormat('address', isAcceptableAddress);
ajv.addFormat('hash', /^0x[0-9a-fA-F]{64}$/);
ajv.addFormat('date', /^\d{4}-\d{2}-\d{2}$/);
ajv.addFormat('date-time', /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/);

let service: Service;
let operations: Operation[];
/** Things that exist, by the path parameter that names them. */
let existing: PathValues;
/** Things for the routes that take them away. */
let disposable: PathValues;
/** For the routes that take away what people have; each is used once. */
const spare = new Map<string, PathValues[]>();
/** Of these, what the route that is walked just now may take away. */
let taken: PathValues = {};

before(async () => {
  service = await startService({ env: webhookSettings });
  operations = await readOperations(service);
  existing = await makeThings(service);
  disposable = await makeThings(service);
  // Before any test, because few invitations are taken in a minute; two tests walk the routes.
  for (const { name } of [...operations, ...operations].filter(({ name }) => name.startsWith('DELETE'))) {
    if (/\/sessions/.test(name)) keep(name, await makeOwner(service));
    if (/\/members/.test(name)) keep(name, await makeMember(service, disposable));
    if (/\/invitations/.test(name)) keep(name, await makeInvitation(service, disposable));
  }
});
after(() => service.close());

test('no request makes a route fail, and every answer has a documented shape', { timeout }, async (t) => {
  for (const operation of operations) {
    await t.test(operation.name, () => {
      takeSpare(operation);
      return check(operation, anyRequest(operation), numRuns, (answer, { body }) => {
        if (operation.body === null || body === undefined) return;
        const sent = JSON.parse(JSON.stringify(body));
        if (!fitsSchema(operation.body, sent))
          assert.ok(answer.status >= 400, 'took what the document forbids');
      });
    });
  }
});

test('what the document allows is never refused as invalid', { timeout }, async (t) => {
  for (const operation of operations) {
    await t.test(operation.name, () => {
      takeSpare(operation);
      return check(operation, allowedRequest(operation), numRuns / 3, ({ status, text, json }) =>
        assert.ok(status < 300 || status === 304 || mayBe(operation, status, json?.errorCode), text),
      );
    });
  }
});

test('no webhook was aimed at anything but this machine', async () => {
  // All of them: two may be of the same address.
  const urls = await withClient({ connectionString: service.databaseUrl }, async (client) => {
    const { rows } = await client.query('select url from webhook_endpoints');
    return rows.map(({ url }) => new URL(url));
  });
  assert.ok(urls.length > numRuns * 0.4, 'hardly any endpoint was made');
  for (const { hostname } of urls) assert.match(hostname, /^127\.0\.0\.\d+$/);
});

/** What is refused for another reason than its form. */
function mayBe({ path }: Operation, status: number, errorCode: string): boolean {
  if (/\/sessions/.test(path) && errorCode === 'unauthorized') return true;
  if (/\/invitations\/\w+$/.test(path) && errorCode === 'rate_limit_exceeded') return true;
  return status === 404 || status === 409 || errorCode === 'viewer_not_allowed';
}

interface Request {
  path: string;
  query: [name: string, value: string][];
  headers: Record<string, string>;
  body: unknown;
}

type Assertion = (answer: Answer, request: Request) => void;

async function check(
  operation: Operation,
  requests: fc.Arbitrary<Request>,
  numRuns: number,
  also: Assertion,
): Promise<void> {
  const { key = service.key, headers: own } = credentialsFor(operation, thingsOf(operation));
  await fc.assert(
    fc.asyncProperty(requests, async (request) => {
      const { path, query, headers, body } = request;
      const search = query.map((pair) => pair.map(encodeText).join('=')).join('&');
      const answer = await send(service.url, {
        method: operation.method,
        path: search === '' ? path : `${path}?${search}`,
        headers: {
          ...(key !== null && { 'x-api-key': key }),
          'content-type': 'application/json',
          ...own,
          ...headers,
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      assertDocumented(operation, answer);
      also(answer, request);
    }),
    { numRuns: Math.ceil(numRuns) },
  );
}

function assertDocumented(operation: Operation, answer: Answer): void {
  assert.ok(answer.status < 500, `${answer.status}: ${answer.text}`);
  if (answer.status >= 300 && answer.status !== 304) {
    if (/problem/.test(answer.headers.get('content-type') ?? '')) assertProblem(answer);
    else assertError(answer);
    return;
  }
  const schema = operation.responses[answer.status];
  assert.notEqual(schema, undefined, `${answer.status} is not documented`);
  if (answer.status === 204) assert.equal(answer.text, '');
  else if (schema)
    assert.ok(
      fitsSchema(schema, isEventStream(answer.headers.get('content-type')) ? answer.text : answer.json),
      `${ajv.errorsText(validator(schema).errors)}: ${answer.text}`,
    );
}

const validators = new Map<Schema, ValidateFunction>();

function validator(schema: Schema): ValidateFunction {
  const validate = validators.get(schema) ?? ajv.compile(schema);
  validators.set(schema, validate);
  return validate;
}

function fitsSchema(schema: Schema, value: unknown): boolean {
  return validator(schema)(value) as boolean;
}

function allowedRequest(operation: Operation): fc.Arbitrary<Request> {
  return fc.record({
    path: pathOf(operation, (name, schema) =>
      fc.oneof(
        { weight: 4, arbitrary: fc.constant(knownValue(operation, name)) },
        allowedBy(schema).map(String),
      ),
    ),
    query: queryOf(operation, allowedFor),
    headers: headersOf(operation),
    body: operation.body ? inKnownVault(allowedBy(operation.body)) : fc.constant(undefined),
  });
}

/** Where a body has to name something, mostly what exists: nothing can be done with the rest. */
function inKnownVault(bodies: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc
    .tuple(bodies, fc.nat(3))
    .map(([body, unknown]) => (unknown === 0 ? body : namingExisting(body, withoutToken(existing))));
}

/** An invitation is accepted once, so it stays unknown here. */
function withoutToken({ token: _, ...rest }: PathValues): PathValues {
  return rest;
}

function anyRequest(operation: Operation): fc.Arbitrary<Request> {
  const { body } = operation;
  return fc.record({
    path: pathOf(operation, (name) =>
      fc.oneof({ weight: 4, arbitrary: fc.constant(knownValue(operation, name)) }, weirdText),
    ),
    query: fc.oneof(
      queryOf(operation, (name, schema) => fc.oneof(allowedFor(name, schema), weirdText)),
      fc.array(
        fc.tuple(fc.oneof(weirdText, fc.constantFrom('limit', 'cursor', 'status', 'type')), weirdText),
        { maxLength: 4 },
      ),
    ),
    headers: fc.oneof({ weight: 3, arbitrary: headersOf(operation) }, weirdHeaders),
    body: body
      ? fc.oneof(inKnownVault(allowedBy(body)), nearlyAllowedBy(body), anyJson)
      : fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, anyJson),
  });
}

function keep(name: string, things: PathValues): void {
  spare.set(name, [...(spare.get(name) ?? []), things]);
}

/** Whose session was ended cannot ask again. */
function takeSpare({ name }: Operation): void {
  taken = spare.get(name)?.pop() ?? {};
}

function thingsOf({ method }: Operation): PathValues {
  return method === 'DELETE' ? { ...disposable, ...taken } : existing;
}

function knownValue(operation: Operation, name: string): string {
  const value = thingsOf(operation)[name];
  assert.ok(value, `this test needs something that exists for {${name}}`);
  return value;
}

function pathOf(
  operation: Operation,
  arbitraryFor: (name: string, schema: Schema) => fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  const parameters = operation.parameters.filter((parameter) => parameter.in === 'path');
  return fc.tuple(...parameters.map(({ name, schema }) => arbitraryFor(name, schema))).map((values) =>
    parameters.reduce(
      // An empty segment is another route.
      (path, { name }, position) =>
        path.replace(`{${name}}`, () => encodeText(values[position] ?? '') || '-'),
      operation.path,
    ),
  );
}

/** Each parameter at most once, and those that are needed always; a cursor never: a made-up one is rightly refused. */
function queryOf(
  operation: Operation,
  arbitraryFor: (name: string, schema: Schema) => fc.Arbitrary<unknown>,
): fc.Arbitrary<Request['query']> {
  const parameters = operation.parameters.filter(
    ({ in: place, name }) => place === 'query' && name !== 'cursor',
  );
  const pairs = parameters.map(({ name, schema, required = false }) => {
    const known = knownInQuery()[name];
    const values = (statsTimes[operation.path]?.[name] ?? arbitraryFor(name, schema)).map(String);
    const value =
      known === undefined ? values : fc.oneof({ weight: 4, arbitrary: fc.constant(known) }, values);
    const pair = fc.tuple(fc.constant(name), value);
    return required ? pair : fc.option(pair, { nil: null });
  });
  return fc.tuple(...pairs).map((given) => given.filter((pair) => pair !== null));
}

/** What a parameter mostly names: little is found by chance. */
function knownInQuery(): Record<string, string | undefined> {
  const { address, vaultAddress, assetId } = existing;
  return {
    viewerAddress: address,
    workerAddress: address,
    vaultAddress,
    parentAssetId: assetId,
    version: '1',
  };
}

const dayMs = 86_400_000;

function timeBetween(firstDay: number, lastDay: number): fc.Arbitrary<string> {
  const day = (number: number) => new Date(Date.now() + number * dayMs);
  return fc
    .date({ min: day(firstDay), max: day(lastDay), noInvalidDate: true })
    .map((date) => date.toISOString());
}

/** Figures are given for no more than 92 days. */
const statsTimes: Record<string, Record<string, fc.Arbitrary<string>>> = {
  '/api-v1/platform/stats': { from: timeBetween(-60, -1), to: timeBetween(0, 30) },
};

function headersOf(operation: Operation): fc.Arbitrary<Record<string, string>> {
  if (!operation.parameters.some(({ name }) => name === 'idempotency-key')) return fc.constant({});
  const key = fc.uuid();
  return fc.record({ 'idempotency-key': key }, { requiredKeys: [] });
}

/** Values that may stand in a header at all. */
const headerText = fc.oneof(
  fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .map((code) => String.fromCharCode(code === 0x7f ? 0x20 : code)),
    maxLength: 300,
  }),
  fc.constantFrom('', '"', '""', 'a b', 'x'.repeat(255), 'x'.repeat(256), '\t', '*/*', 'gzip', 'null'),
);

const weirdHeaders = fc.record(
  {
    'idempotency-key': headerText,
    'last-event-id': headerText,
    'x-request-id': headerText,
    accept: fc.oneof(headerText, fc.constant('application/problem+json')),
    'content-type': fc.oneof(
      headerText,
      fc.constantFrom('text/plain', 'application/json;charset=x', 'multipart/form-data; boundary=x'),
    ),
    'content-encoding': headerText,
    'x-api-key': headerText,
    cookie: headerText,
    'x-workspace-id': headerText,
    range: fc.oneof(
      headerText,
      fc.constantFrom('bytes=0-0', 'bytes=-1', 'bytes=5-2', 'bytes=0-,1-2', 'x=1-2'),
    ),
    'if-none-match': fc.oneof(headerText, fc.constant('*')),
    'x-forwarded-for': headerText,
    'accept-encoding': headerText,
  },
  { requiredKeys: [] },
);

/** Percent-encodes; halves of surrogate pairs, which UTF-8 has no form for, become what a broken client sends. */
function encodeText(text: string): string {
  return [...text].map((unit) => (unit.isWellFormed() ? encodeURIComponent(unit) : '%ED%A0%80')).join('');
}
