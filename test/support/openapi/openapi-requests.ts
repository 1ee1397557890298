/** Requests of every kind for an operation of /openapi.json, made from its schemas. */
import assert from 'node:assert/strict';
import { fc } from '../service/properties.ts';
import {
  allowedBy,
  allowedFor,
  anyJson,
  atEdges,
  nearlyAllowedBy,
  weirdText,
} from './openapi-arbitraries.ts';
import { namingExisting, type Operation, type PathValues, type Schema } from './openapi-operations.ts';

export interface Request {
  path: string;
  query: [name: string, value: string][];
  headers: Record<string, string>;
  body: unknown;
}

/** Includes the query, percent-encoded. */
export function pathAndQuery({ path, query }: Request): string {
  const search = query.map((pair) => pair.map(encodeText).join('=')).join('&');
  return search === '' ? path : `${path}?${search}`;
}

export interface Known {
  /** Existing things, by the path parameter that names them. */
  existing: PathValues;
  /** The subset that this operation may use. */
  thingsOf(operation: Operation): PathValues;
}

export interface Requests {
  /** Requests that the document allows. */
  allowed(operation: Operation): fc.Arbitrary<Request>;
  any(operation: Operation): fc.Arbitrary<Request>;
}

export function createRequests({ existing, thingsOf }: Known): Requests {
  function allowed(operation: Operation): fc.Arbitrary<Request> {
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

  /** A body that must name something mostly names an existing thing: otherwise the request could not succeed. */
  function inKnownVault(bodies: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
    return fc
      .tuple(bodies, fc.nat(3))
      .map(([body, unknown]) => (unknown === 0 ? body : namingExisting(body, withoutToken(existing))));
  }

  /** An invitation can be accepted only once, so none is used here. */
  function withoutToken({ token: _, ...rest }: PathValues): PathValues {
    return rest;
  }

  function any(operation: Operation): fc.Arbitrary<Request> {
    const { body } = operation;
    return fc.record({
      path: pathOf(operation, (name) =>
        fc.oneof({ weight: 4, arbitrary: fc.constant(knownValue(operation, name)) }, weirdText),
      ),
      query: fc.oneof(
        queryOf(operation, (name, schema) =>
          fc.oneof(
            allowedFor(name, schema),
            name === 'wait' ? fc.constantFrom(-1, 61) : atEdges(schema),
            weirdText,
          ),
        ),
        fc.array(
          fc.tuple(fc.oneof(weirdText, fc.constantFrom('limit', 'cursor', 'status', 'type')), weirdText),
          { maxLength: 4 },
        ),
      ),
      headers: fc.oneof({ weight: 3, arbitrary: headersOf(operation) }, weirdHeaders),
      body: body
        ? fc.oneof(inKnownVault(allowedBy(body)), inKnownVault(atEdges(body)), nearlyAllowedBy(body), anyJson)
        : fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, anyJson),
    });
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
        // An empty segment would be another route.
        (path, { name }, position) =>
          path.replace(`{${name}}`, () => encodeText(values[position] ?? '') || '-'),
        operation.path,
      ),
    );
  }

  /**
   * Each parameter at most once, and required ones always, as also the one without which an answer waits for seconds;
   * never a cursor, since a made-up one is rightly refused.
   */
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
      return required || name === 'wait' ? pair : fc.option(pair, { nil: null });
    });
    return fc.tuple(...pairs).map((given) => given.filter((pair) => pair !== null));
  }

  /** Existing values that parameters mostly use: random ones rarely match anything. */
  function knownInQuery(): Record<string, string | undefined> {
    const { address, workerAddress, vaultAddress, assetId } = existing;
    return {
      viewerAddress: address,
      workerAddress,
      vaultAddress,
      parentAssetId: assetId,
      version: '1',
      // For what nothing anchors here: each other number is so many seconds in which the request is open.
      wait: '0',
    };
  }

  return { allowed, any };
}

const dayMs = 86_400_000;

function timeBetween(firstDay: number, lastDay: number): fc.Arbitrary<string> {
  const day = (number: number) => new Date(Date.now() + number * dayMs);
  return fc
    .date({ min: day(firstDay), max: day(lastDay), noInvalidDate: true })
    .map((date) => date.toISOString());
}

/** Statistics cover at most 92 days. */
const statsTimes: Record<string, Record<string, fc.Arbitrary<string>>> = {
  '/api-v1/platform/stats': { from: timeBetween(-60, -1), to: timeBetween(0, 30) },
};

function headersOf(operation: Operation): fc.Arbitrary<Record<string, string>> {
  if (!operation.parameters.some(({ name }) => name === 'idempotency-key')) return fc.constant({});
  const key = fc.uuid();
  return fc.record({ 'idempotency-key': key }, { requiredKeys: [] });
}

/** Values that are valid in a header at all. */
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

/** Percent-encodes; half surrogate pairs, which UTF-8 cannot represent, become what a broken client sends. */
function encodeText(text: string): string {
  return [...text].map((unit) => (unit.isWellFormed() ? encodeURIComponent(unit) : '%ED%A0%80')).join('');
}
