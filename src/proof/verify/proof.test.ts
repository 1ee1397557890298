/** The parser of proofs, and the JSON schema that must agree with it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { plainNames, readVector, readVectorFile } from '../../../test/support/fixtures/vectors.ts';
import { fc } from '../../../test/support/service/properties.ts';
import { parseProof } from './proof.ts';

const schema = JSON.parse(readFileSync(new URL('../../../docs/proof.schema.json', import.meta.url), 'utf8'));
const fitsSchema = new Ajv2020({ strict: true, strictTuples: false, strictTypes: false }).compile(schema);

/** With every kind of anchor, and with a renewal. */
const richNames = [...plainNames, 'three-clocks', 'renewal-of-two-generations'];

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

test('good vectors fit the schema and the parser', () => {
  for (const name of richNames) {
    const { proof } = readVectorFile(name);
    assert.deepEqual(parseProof(proof).faults, [], name);
    assert.ok(fitsSchema(proof), name);
  }
});

test('the parser reports every fault with its path', () => {
  const document = structuredClone(readVector('file-raw').proof) as unknown as Record<string, never>;
  const { seal, anchors, content, leaf } = document as unknown as Record<string, Record<string, unknown>>;
  Object.assign(seal ?? {}, { depth: 65, extra: 1 });
  Object.assign((anchors as unknown as object[])[0] ?? {}, { contract: `0x${'A7'.repeat(20)}` });
  Object.assign(content ?? {}, { salt: `0x${'00'.repeat(32)}` });
  (leaf?.values as string[])[4] = '01';
  delete (document as Record<string, unknown>).claims;
  Object.assign(document, { note: 'trust me' });
  assert.deepEqual(
    parseProof(document).faults.map(({ path, message }) => `${path} ${message}`),
    [
      'content.salt is null for raw content',
      'claims is missing',
      'leaf.values[4] is not a decimal string from 1 to 18446744073709551615',
      'seal.depth is not an integer from 0 to 64',
      'seal.extra is not a field of this format',
      'anchors[0].contract is not 0x and 40 lower-case hex digits',
      '["note"] is not a field of this format',
    ],
  );
  assert.deepEqual(parseProof([]).faults, [{ path: '', message: 'is not an object' }]);
});

test('accepts an anchor of an unknown type, but requires all fields of a known one', () => {
  const { proof } = readVector('file-raw');
  const later = { type: 'bitcoin', whatever: [1, 2] };
  assert.deepEqual(parseProof({ ...proof, anchors: [...proof.anchors, later] }).faults, []);
  assert.deepEqual(
    parseProof({ ...proof, anchors: [{ type: 'evm' }] }).faults.map(({ message }) => message),
    Array.from({ length: 8 }, () => 'is missing'),
  );
});

test('schema and parser accept and refuse the same documents', () => {
  const places = richNames.flatMap((name) =>
    pathsOf(readVectorFile(name).proof as unknown as Json).map((path) => ({ name, path })),
  );
  let taken = 0;
  let refused = 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...places), change), { minLength: 1, maxLength: 2 }),
      (changes) => {
        const [first] = changes;
        let document = structuredClone(readVectorFile(first?.[0].name ?? '').proof) as unknown as Json;
        for (const [{ path }, apply] of changes) document = changeAt(document, path, apply);
        const { faults } = parseProof(document);
        const fits = fitsSchema(document);
        const isBeyond = faults.length > 0 && faults.every(({ message }) => beyondSchemas.test(message));
        const about = JSON.stringify({ faults, errors: fitsSchema.errors });
        assert.ok(fits === (faults.length === 0) || (fits && isBeyond), about);
        if (faults.length === 0) taken += 1;
        else refused += 1;
      },
    ),
    { numRuns: 4000 },
  );
  // Both outcomes must occur, or the comparison proves nothing.
  assert.ok(taken > 100 && refused > 1000, `${taken} taken, ${refused} refused`);
});

/** What replaces a value; undefined removes it. */
const replacement = fc.oneof(
  fc.constant(undefined),
  fc.jsonValue() as fc.Arbitrary<Json>,
  fc.constantFrom<Json>(null, 0, 1, -1, -0, 64, 65, 1.5, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 1e300),
  fc.constantFrom<Json>('', '0', '01', '9'.repeat(19), '9'.repeat(20), 'evm', 'bitcoin', 'Evm', 'raw', 'jcs'),
  fc.constantFrom<Json>(
    'hmac-sha256',
    'a/b',
    'tab\t',
    '\u{1f600}'.repeat(255),
    'é'.repeat(256),
    '\ud800',
    'x\n',
  ),
  fc.constantFrom(20, 32, 65).map((bytes): Json => `0x${'1c'.repeat(bytes)}`),
  fc.constantFrom(20, 32, 65).map((bytes): Json => `0x${'1C'.repeat(bytes)}`),
);

/** A bound of a number in a string, the bytes behind base64, and what may occur only once. */
const beyondSchemas = /decimal string from 1 to|bytes in base64|occurs twice/;

type Change = (value: Json) => Json | undefined;

const change: fc.Arbitrary<Change> = fc.oneof(
  replacement.map((value) => () => value),
  fc.tuple(fc.string(), replacement).map(
    ([name, added]): Change =>
      (value) => {
        if (Array.isArray(value)) return [...value, added ?? null];
        if (typeof value === 'object' && value !== null) return { ...value, [name]: added ?? null };
        if (typeof value === 'string') return value + name;
        return typeof value === 'number' ? value + 1 : value;
      },
  ),
  fc.nat(70).map(
    (copies): Change =>
      (value) => {
        if (Array.isArray(value))
          return Array.from({ length: copies }, () => value[0] ?? `0x${'00'.repeat(32)}`);
        return typeof value === 'string' ? value.toUpperCase() : value;
      },
  ),
);

function pathsOf(value: Json, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, member]) => pathsOf(member, [...path, name]))];
}

/** A place that an earlier change removed is skipped. */
function changeAt(value: Json, [name, ...rest]: string[], apply: Change): Json {
  if (name === undefined) return apply(value) ?? null;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return value;
  const copy = structuredClone(value) as Record<string, Json>;
  const member = copy[name] as Json;
  const changed = rest.length === 0 ? apply(member) : changeAt(member, rest, apply);
  if (changed !== undefined) copy[name] = changed;
  else if (Array.isArray(copy)) copy.splice(Number(name), 1);
  else delete copy[name];
  return copy as Json;
}
