/** Canonical JSON against RFC 8785, and the digests of content. */
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import canonicalize from 'canonicalize';
import { fixed, utf8 } from '../../test/support/fixtures/proof-fixture.ts';
import { anyCharacter, fc } from '../../test/support/service/properties.ts';
import { parseJsonText } from '../runtime/json-text.ts';
import { CanonicalJsonError, canonicalJson } from './canonical.ts';
import { contentDigest, recordDigest } from './content.ts';
import { toHex } from './hex.ts';

test('writes the example of RFC 8785, section 3.2.2, as in section 3.2.4', () => {
  const text = String.raw`{
    "numbers": [333333333.33333329, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`;
  assert.equal(
    canonicalJson(JSON.parse(text)),
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
});

test('sorts names by UTF-16 code units (RFC 8785, section 3.2.3)', () => {
  const text = String.raw`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh",
    "1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`;
  // The emoji is the highest code point, but its first code unit is below U+FB33.
  const values = Object.values(JSON.parse(canonicalJson(JSON.parse(text))) as Record<string, string>);
  const order = [...canonicalJson(JSON.parse(text)).matchAll(/:"([^"]+)"/g)].map(([, value]) => value);
  assert.deepEqual(order, [
    'Carriage Return',
    'One',
    'Control',
    'Latin Small Letter O With Diaeresis',
    'Euro Sign',
    'Emoji: Grinning Face',
    'Hebrew Letter Dalet With Dagesh',
  ]);
  assert.equal(values.length, 7);
});

/** Bits of the double and its text, from RFC 8785, Appendix B. */
const numbers: [bits: bigint, text: string][] = [
  [0x0000000000000000n, '0'],
  [0x8000000000000000n, '0'],
  [0x0000000000000001n, '5e-324'],
  [0x8000000000000001n, '-5e-324'],
  [0x41b3de4355555553n, '333333333.3333332'],
  [0x41b3de4355555554n, '333333333.33333325'],
  [0x41b3de4355555555n, '333333333.3333333'],
  [0x41b3de4355555556n, '333333333.3333334'],
  [0x41b3de4355555557n, '333333333.33333343'],
  [0xbecbf647612f3696n, '-0.0000033333333333333333'],
];

test('writes numbers as in RFC 8785, Appendix B', () => {
  for (const [bits, text] of numbers) assert.equal(canonicalJson(doubleOf(bits)), text);
});

test('refuses integers beyond 2^53 anywhere, and names the path', () => {
  assert.equal(canonicalJson([2 ** 53 - 1, 1 - 2 ** 53]), '[9007199254740991,-9007199254740991]');
  for (const text of ['9007199254740992', '9007199254740993', '-9007199254740993', '1e21', '1e300', '1e23']) {
    assert.throws(() => canonicalJson(JSON.parse(text)), CanonicalJsonError, text);
  }
  assert.throws(() => canonicalJson({ a: [{ b: 2 ** 53 }] }, 'data'), {
    name: 'CanonicalJsonError',
    message: 'data.a[0].b is an integer beyond 2^53; send it as a string.',
  });
});

test('refuses values without a canonical form', () => {
  // 1e400 is JSON, but no double.
  for (const value of [JSON.parse('1e400'), Number.NaN, undefined, 1n, () => 1, Symbol('x'), new Date(0)]) {
    assert.throws(() => canonicalJson([value]), CanonicalJsonError);
  }
  assert.throws(() => canonicalJson('\ud800'), /surrogate/);
  assert.throws(() => canonicalJson({ '\udc00': 1 }), /surrogate/);
  assert.throws(() => canonicalJson({ a: undefined }), CanonicalJsonError);
  assert.throws(() => canonicalJson(new Array(1)), CanonicalJsonError);
  assert.throws(() => canonicalJson({ toJSON: () => 1 }), CanonicalJsonError);
  const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
  assert.equal(canonicalJson(nested(64)).length, 128);
  assert.throws(() => canonicalJson(nested(65)), /64 levels/);
  const circle: unknown[] = [];
  circle.push(circle);
  assert.throws(() => canonicalJson(circle), CanonicalJsonError);
});

test('treats unusual names like any others', () => {
  const text = '{"":1,"__proto__":{"x":2},"constructor":3,"hasOwnProperty":4}';
  assert.equal(canonicalJson(JSON.parse(text)), text);
});

test('a value has one canonical text, whatever its order and spelling', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      let text: string;
      try {
        text = canonicalJson(value);
      } catch (error) {
        assert.ok(error instanceof CanonicalJsonError);
        return;
      }
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
      assert.equal(canonicalJson(JSON.parse(text)), text);
      assert.equal(canonicalJson(reversed(value)), text);
      assert.deepEqual(parseJsonText(JSON.stringify(value, null, 2)), JSON.parse(text));
    }),
    { numRuns: 500 },
  );
});

test('refuses a name that occurs twice in an object, however it is spelled', () => {
  for (const text of [
    '{"a":1,"a":1}',
    String.raw`{"a":1,"\u0061":2}`,
    '[{"b":{"":0, "" :1}}]',
    String.raw`{"\\":1,"x":"\"","\\" : 2}`,
  ]) {
    assert.throws(() => parseJsonText(text), /occurs twice/, text);
  }
  for (const text of [
    '{"a":{"a":1}}',
    String.raw`{"a":"\"a\":","b":["\"b\":"]}`,
    '[{"a":1},{"a":1}]',
    '"a:"',
  ]) {
    assert.deepEqual(parseJsonText(text), JSON.parse(text));
  }
});

test('digests match SHA-256 and HMAC of Node.js', async () => {
  const salt = Buffer.alloc(32, 0xa1);
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.integer(), async (bytes, number) => {
      const hex = (digest: Buffer) => `0x${digest.toString('hex')}`;
      const digestBy = (canonicalization: 'raw' | 'hmac-sha256', key: `0x${string}` | null) =>
        contentDigest({ canonicalization, salt: key }, bytes);
      assert.equal(await digestBy('raw', null), hex(createHash('sha256').update(bytes).digest()));
      const mac = createHmac('sha256', salt).update(bytes).digest();
      assert.equal(await digestBy('hmac-sha256', toHex(salt)), hex(mac));
      const text = `{"b":${number},"a":"é"}`;
      const salted = createHash('sha256').update(salt).update(`{"a":"é","b":${number}}`).digest();
      assert.equal(
        await contentDigest({ canonicalization: 'jcs', salt: toHex(salt) }, utf8(text)),
        hex(salted),
      );
      assert.equal(recordDigest(salt, { b: number, a: 'é' }), hex(salted));
    }),
  );
});

test('refuses salted content without its salt, and text that is not UTF-8', async () => {
  await assert.rejects(
    contentDigest({ canonicalization: 'hmac-sha256', salt: null }, utf8('x')),
    /has a salt/,
  );
  await assert.rejects(
    contentDigest({ canonicalization: 'jcs', salt: fixed(1) }, new Uint8Array([0x22, 0xff, 0x22])),
    CanonicalJsonError,
  );
});

function doubleOf(bits: bigint): number {
  return new DataView(new BigUint64Array([bits]).buffer).getFloat64(0, littleEndian);
}

const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

function reversed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}

test('writes the same text as the package canonicalize', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: anyCharacter }), (value) => {
      let text: string;
      try {
        text = canonicalJson(value);
      } catch (error) {
        assert.ok(error instanceof CanonicalJsonError);
        return;
      }
      assert.equal(text, canonicalize(value));
    }),
    { numRuns: 2_000 },
  );
});
