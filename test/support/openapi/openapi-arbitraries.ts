/** fast-check arbitraries made from the schemas of /openapi.json: values that a schema allows, and others. */

import { checksummed } from '../../../src/runtime/address.ts';
import { hasDirectionMark } from '../../../src/runtime/visible-text.ts';
import { anyCharacter, fc } from '../service/properties.ts';
import { type Schema, smallest, someAddress, typesOf } from './openapi-operations.ts';

/** Text that can be stored: any characters except NUL and half surrogate pairs. */
function storableText(minLength: number, maxLength: number): fc.Arbitrary<string> {
  const unit = fc.oneof(
    { weight: 4, arbitrary: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }) },
    { weight: 1, arbitrary: anyCharacter },
    { weight: 1, arbitrary: fc.constantFrom('𝔸', 'é', '\u202e', '"', '\\', "'", '%', '\n', '\u2028', '�') },
  );
  return fc
    .array(unit, { minLength, maxLength, size: 'small' })
    .map((units) => units.join('').replaceAll('\0', '0'));
}

const hexDigits = fc.string({
  unit: fc.constantFrom(...'0123456789abcdef'),
  minLength: 40,
  maxLength: 40,
});

const addressText = hexDigits.chain((digits) =>
  fc.constantFrom(`0x${digits}`, `0x${digits.toUpperCase()}`, checksummed(`0x${digits}`)),
);

/** From tomorrow to the end of four-digit years, so that an expiry is never in the past. */
const dateTimeText = fc
  .tuple(
    fc.date({ min: new Date(Date.now() + 86_400_000 * 2), max: new Date('9998-12-31'), noInvalidDate: true }),
    fc.constantFrom('Z', 'z', '+00:00', '-00:00', '+14:00', '-23:59'),
    fc.constantFrom('', '.0', '.123456789'),
  )
  .map(([date, zone, fraction]) => `${date.toISOString().slice(0, 19)}${fraction}${zone}`);

const dateText = dayBetween('0001-01-01', '9999-12-31');

function dayBetween(first: string, last: string): fc.Arbitrary<string> {
  return fc
    .date({ min: new Date(first), max: new Date(last), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10));
}

/** From 1900 on: work with an earlier date is refused, as the document says in prose. */
const workText = fc
  .date({ min: new Date('1900-01-01'), max: new Date(), noInvalidDate: true })
  .map((date) => date.toISOString());

const pastText = fc
  .date({ min: new Date('0001-01-02'), max: new Date(), noInvalidDate: true })
  .map((date) => date.toISOString());

/** A literal address on this machine where nobody listens: no name is looked up, and nothing leaves the machine. */
const targetText = fc
  .tuple(fc.constantFrom('https', 'http'), fc.integer({ min: 1, max: 254 }), storableText(0, 60))
  .map(([scheme, host, path]) => `${scheme}://127.0.0.${host}:9/${encodeURIComponent(path)}?${path}`);

const hashText = fc
  .array(fc.constantFrom(...'0123456789abcdefABCDEF'), { minLength: 64, maxLength: 64 })
  .map((digits) => `0x${digits.join('')}`);

/** Any object that can be hashed: no integer beyond 2^53, and no text or name that cannot be stored. */
const hashableData = fc.object({
  key: storableText(0, 10).filter((name) => name !== '__proto__'),
  values: [
    storableText(0, 20),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, min: -1e6, max: 1e6 }),
    fc.boolean(),
    fc.constant(null),
  ],
  maxDepth: 3,
  maxKeys: 5,
});

/** No path, no control characters, and short enough for 255 bytes. */
function fileName({ pattern = '' }: Schema): fc.Arbitrary<string> {
  const allowed = new RegExp(pattern, 'u');
  return fc
    .array(fc.constantFrom(...'aZ0 .-_', 'é', '𝔸', '"', '%', "'", '<'), { minLength: 1, maxLength: 60 })
    .map((units) => units.join(''))
    .filter((name) => allowed.test(name) && !/^\.{1,2}$/.test(name));
}

const futureDay = dayBetween('2100-01-01', '9998-12-31');

/** Contains everything that an interval can be based on. */
const lastDone = fc.record({ at: workText, hours: fc.nat(1000), cycles: fc.nat(1000) });

/** Members with more constraints than their schema states. */
const membersByName: Record<string, fc.Arbitrary<unknown>> = {
  url: targetText,
  headers: fc.constantFrom([], [{ name: 'X-Terminal', value: '7' }]),
  clientCertificate: fc.constant(null),
  filter: fc.constantFrom(
    null,
    'data.version > 1',
    'not exists(data.vault_id) or type in ["vault.deactivated"]',
  ),
  from: pastText,
  at: workText,
  performedAt: workText,
  lastDone,
  every: fc.record({ days: fc.integer({ min: 1, max: 1000 }), hours: fc.integer({ min: 1, max: 1000 }) }),
  tolerance: fc.record(
    { days: fc.integer({ min: 1, max: 1000 }), hours: fc.integer({ min: 1, max: 1000 }) },
    { requiredKeys: [] },
  ),
  data: hashableData,
  metadata: hashableData,
  assetId: fc.uuid(),
  mediaType: fc.constantFrom('application/pdf', 'text/plain', 'Image/PNG', 'application/vnd.a+json', 'a/b'),
  expirationDate: fc.oneof(futureDay, dateTimeText),
  // Nothing is anchored meanwhile, so that an answer takes as long as it may wait.
  wait: fc.constantFrom(0, 1),
  email: fc.uuid().map((name) => `${name}@example.com`),
  initialDate: dayBetween('0001-01-01', '2019-12-31'),
  finalDate: dayBetween('2020-01-01', '9999-12-31'),
};

/** Random values for these are rightly refused, so they are made only where they are required. */
const notMadeUp = new Set(['cursor', 'signature', 'signedAt', 'assertion', 'supersedes']);

/**
 * What the document says only in prose: a tolerance is smaller than its interval, and a life limit has none; a licence is
 * valid before it expires.
 */
function fitting(members: Record<string, unknown>): Record<string, unknown> {
  const { validFrom, expiresAt } = members;
  if (typeof validFrom === 'string' && Date.parse(validFrom) >= Date.parse(String(expiresAt)))
    return { ...members, validFrom: null };
  const { tolerance, ...rest } = members;
  if (tolerance === undefined) return members;
  if (members.kind === 'life-limit') return rest;
  const every = members.every as Record<string, number> | undefined;
  if (every === undefined) return members;
  const smaller = Object.entries(tolerance as Record<string, number>).filter(
    ([unit, most]) => most < (every[unit] ?? 0),
  );
  return { ...rest, tolerance: Object.fromEntries(smaller) };
}

/** Allowed values of a member or a parameter with this name. */
export function allowedFor(name: string, schema: Schema): fc.Arbitrary<unknown> {
  // Only a file name may be this long.
  if (name === 'name' && schema.maxLength === 255) return fileName(schema);
  return membersByName[name] ?? allowedBy(schema);
}

/** Values that a schema allows. */
export function allowedBy(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const types = typesOf(schema);
  if (types.length === 0) return fc.jsonValue({ maxDepth: 3 });
  return fc.oneof(...types.map((type) => allowedByType(type, schema)));
}

function allowedByType(type: string, schema: Schema): fc.Arbitrary<unknown> {
  const { minLength = 0, maxLength = 60, minItems = 0, maxItems = 5 } = schema;
  switch (type) {
    case 'string':
      if (schema.format === 'address') return addressText;
      if (schema.format === 'hash') return hashText;
      if (schema.format === 'date-time') return dateTimeText;
      if (schema.format === 'date') return dateText;
      return storableText(minLength, maxLength).filter(
        (text) =>
          new RegExp(schema.pattern ?? '', 'u').test(text) &&
          !(schema.format === 'plain-text' && hasDirectionMark(text)),
      );
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -(2 ** 31), max: schema.maximum ?? 2 ** 31 });
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e300, max: schema.maximum ?? 1e300, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array': {
      const items = allowedBy(schema.items ?? {});
      const limits = { minLength: minItems, maxLength: Math.min(maxItems, minItems + 5) };
      return schema.uniqueItems
        ? fc.uniqueArray(items, { ...limits, comparator: 'SameValue' })
        : fc.array(items, limits);
    }
    default:
      return allowedObject(schema);
  }
}

function allowedObject({
  properties = {},
  required = [],
  additionalProperties,
}: Schema): fc.Arbitrary<unknown> {
  const members = fc
    .record(
      Object.fromEntries(
        Object.entries(properties)
          .filter(([name]) => required.includes(name) || !notMadeUp.has(name))
          .map(([name, member]) => [name, allowedFor(name, member)]),
      ),
      { requiredKeys: required },
    )
    .map(fitting);
  if (typeof additionalProperties !== 'object') return members;
  const more = fc.dictionary(fc.string({ unit: 'grapheme-ascii' }), allowedBy(additionalProperties), {
    maxKeys: 4,
  });
  return fc.tuple(more, members).map(([others, own]) => ({ ...others, ...own }));
}

/** Any 16-bit units: including NUL and half surrogate pairs. */
const anyUnits = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0, 0xd800, 0xdfff, 0xfffe)), {
    maxLength: 12,
  })
  .map((units) => String.fromCharCode(...units));

export const weirdText: fc.Arbitrary<string> = fc.oneof(
  anyUnits,
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc.constantFrom(
    ...['', ' ', '\0', '\ud800', 'null', 'NaN', '-1', '1e999', '0x10', '__proto__', 'constructor', '../..'],
    ...["'; drop table vaults; --", '%00', '%s%n', '{{7*7}}', '$x', '\u202e', 'e\u0301', '💥', '\r\nx: y'],
    ...['x'.repeat(3000), '💥'.repeat(201), '0x', someAddress.toLowerCase(), someAddress.replace('B', 'b')],
    ...['2030-02-30T00:00:00Z', '9999-12-31T23:59:59-23:59', '0000-01-01T00:00:00Z', '2030-01-01T24:00:00Z'],
  ),
);

/** Any JSON, including weird texts and member names that have a meaning in JavaScript. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 4, stringUnit: anyCharacter }),
  fc.object({
    key: weirdText,
    values: [weirdText, fc.double(), fc.constant(null), fc.boolean()],
    maxDepth: 3,
  }),
  fc.constantFrom(deep(64), deep(65), deep(500), JSON.parse('{"__proto__":{"name":"x"}}'), 2 ** 53 + 1),
  weirdText,
);

function deep(levels: number): unknown {
  let value: unknown = 'x';
  for (let level = 0; level < levels; level += 1) value = level % 2 ? { x: value } : [value];
  return value;
}

/** An allowed value with one change: a member of another type, left out, added or repeated. */
export function nearlyAllowedBy(schema: Schema): fc.Arbitrary<unknown> {
  const names = Object.keys(schema.properties ?? {});
  if (names.length === 0) return anyJson;
  const base = fc.oneof(allowedBy(schema), fc.constant(smallest(schema)));
  const name = fc.constantFrom(...names);
  return fc.oneof(
    fc.tuple(base, name, anyJson).map(([value, at, other]) => ({ ...(value as object), [at]: other })),
    fc.tuple(base, name).chain(([value, at]) =>
      nearlyAllowedBy(schema.properties?.[at] ?? {}).map((other) => ({
        ...(value as object),
        [at]: other,
      })),
    ),
    fc.tuple(base, name).map(([value, at]) => {
      const { [at]: _, ...rest } = value as Record<string, unknown>;
      return rest;
    }),
    fc
      .tuple(
        base,
        fc.oneof(
          weirdText,
          name.map((known) => `${known} `),
        ),
        anyJson,
      )
      .map(([value, extra, other]) => Object.assign(Object.create(null), value, { [extra]: other })),
    base.map((value) => [value]),
  );
}

/** Values at the limits of a schema and just beyond: one member of an allowed object is there. */
export function atEdges(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined || schema.enum) return allowedBy(schema);
  const types = typesOf(schema);
  if (types.length === 0) return anyJson;
  return fc.oneof(...types.map((type) => edgesOfType(type, schema)));
}

function edgesOfType(type: string, schema: Schema): fc.Arbitrary<unknown> {
  const { minLength = 0, maxLength = 60, minItems = 0, maxItems = 5, properties = {} } = schema;
  switch (type) {
    case 'string': {
      const lengths = fc.constantFrom(minLength, minLength - 1, maxLength, maxLength + 1);
      const units = fc.constantFrom('a', ' ', '0', 'é', '\u200b', '\u{1F529}', '\u0001', 'e\u0301');
      const text = fc.tuple(units, lengths).map(([unit, length]) => unit.repeat(Math.max(0, length)));
      // Random texts rarely match a pattern.
      return schema.pattern === undefined ? fc.oneof(text, allowedByType(type, schema)) : text;
    }
    case 'integer':
    case 'number': {
      const { minimum = -(2 ** 53), maximum = 2 ** 53 } = schema;
      return fc.constantFrom(
        ...[minimum, minimum - 1, maximum, maximum + 1, 0, -0, 0.5, minimum + Number.EPSILON],
        ...[2 ** 31, 2 ** 53, 2 ** 53 + 2, 1e21, 1e300, 5e-324, -1e300],
      );
    }
    case 'array': {
      const counts = fc.constantFrom(minItems, Math.max(0, minItems - 1), Math.min(maxItems, 1000), 1001);
      return fc
        .tuple(counts, allowedBy(schema.items ?? {}))
        .map(([count, item]) => Array.from({ length: count }, () => item));
    }
    case 'object': {
      const names = Object.keys(properties);
      if (names.length === 0) return allowedByType(type, schema);
      const edge = fc
        .constantFrom(...names)
        .chain((name) => fc.tuple(fc.constant(name), atEdges(properties[name] ?? {})));
      return fc
        .tuple(allowedBy(schema), edge)
        .map(([value, [name, at]]) => ({ ...(value as object), [name]: at }));
    }
    default:
      return allowedByType(type, schema);
  }
}
