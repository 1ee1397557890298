/** The strict reader of RLP, compared with @ethereumjs/rlp. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NestedUint8Array, RLP } from '@ethereumjs/rlp';
import { hexToBytes } from 'viem';
import { fc } from '../../../test/support/service/properties.ts';
import { bytesOf, decodeRlp, EvmFault, integerOf, listOf, type RlpItem } from './rlp.ts';

const decode = (hex: string) => decodeRlp(hexToBytes(`0x${hex}`), 'it');
const bytes = (...values: number[]) => Uint8Array.from(values);

/** Items of up to four levels of lists, with bytes around the lengths at which the prefix changes. */
const items = fc.letrec<{ bytes: Uint8Array; item: RlpItem; list: RlpItem[] }>((tie) => ({
  bytes: fc.oneof(
    fc.uint8Array({ maxLength: 3 }),
    fc.constantFrom(54, 55, 56, 57, 255, 256, 257).map((length) => new Uint8Array(length).fill(0x80)),
  ),
  item: fc.oneof({ maxDepth: 3, withCrossShrink: true }, tie('bytes'), tie('list')),
  list: fc.array(tie('item'), { maxLength: 4 }),
})).item;

test('reads what another encoder writes, and all of it', () => {
  fc.assert(
    fc.property(items, (item) => {
      assert.deepEqual(decodeRlp(RLP.encode(item as NestedUint8Array), 'it'), item);
    }),
  );
});

test('accepts only the bytes that another encoder would write', () => {
  const mutated = fc
    .tuple(items, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }), fc.nat(4))
    .map(([item, changes, cut]) => {
      const encoded = RLP.encode(item as NestedUint8Array);
      for (const [place, value] of changes) encoded[place % encoded.length] = value;
      return encoded.subarray(0, Math.max(encoded.length - cut, 0));
    });
  let accepted = 0;
  fc.assert(
    fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 80 })), (given) => {
      let item: RlpItem;
      try {
        item = decodeRlp(given, 'it');
      } catch (error) {
        assert.ok(error instanceof EvmFault, String(error));
        return;
      }
      accepted += 1;
      assert.deepEqual(RLP.encode(item as NestedUint8Array), given);
    }),
    { numRuns: 3_000 },
  );
  assert.ok(accepted > 100, `${accepted}`);
});

test('says what is not canonical', () => {
  const wrong: [hex: string, how: RegExp][] = [
    ['', /it is not canonical RLP: it is empty/],
    ['8180ff', /bytes after its end/],
    ['8000', /bytes after its end/],
    ['8105', /a byte has a prefix/],
    ['c28105', /a byte has a prefix/],
    [`b801${'00'}`, /longer than necessary/],
    [`b837${'00'.repeat(55)}`, /longer than necessary/],
    [`b90038${'00'.repeat(56)}`, /longer than necessary/],
    [`f837${'00'.repeat(55)}`, /longer than necessary/],
    ['83ffff', /ends too early/],
    ['b8', /ends too early/],
    ['bf00', /ends too early/],
    [`bf${'ff'.repeat(8)}`, /ends too early/],
    [`ff${'ff'.repeat(8)}00`, /ends too early/],
    ['c3', /ends too early/],
    // Within its list it ends too early, though there are more bytes.
    ['c18180', /ends too early/],
  ];
  for (const [hex, how] of wrong) assert.throws(() => decode(hex), how, hex);
});

test('reads four levels of lists, as receipts have them, and no more', () => {
  assert.deepEqual(decode('c3c2c1c0'), [[[[]]]]);
  assert.throws(() => decode('c4c3c2c1c0'), /more than 4 levels/);
  // Recursion without a limit would end with the stack.
  assert.throws(() => decodeRlp(nested(10_000), 'it'), /more than 4 levels/);
});

/** A list in a list in a list, and so on. */
function nested(levels: number): Uint8Array {
  const prefixes: number[][] = [];
  let length = 0;
  for (let level = 0; level < levels; level += 1) {
    const size = length < 256 ? [length] : [length >> 8, length & 255];
    prefixes.unshift(length < 56 ? [0xc0 + length] : [0xf7 + size.length, ...size]);
    length += prefixes[0]?.length ?? 0;
  }
  return Uint8Array.from(prefixes.flat());
}

test('integers have no leading zeros and are safe', () => {
  assert.equal(integerOf(bytes(), 'it'), 0);
  assert.equal(integerOf(bytes(0x7f), 'it'), 127);
  assert.equal(integerOf(bytes(1, 0), 'it'), 256);
  assert.equal(integerOf(bytes(0x1f, 255, 255, 255, 255, 255, 255), 'it'), Number.MAX_SAFE_INTEGER);
  for (const wrong of [
    bytes(0),
    bytes(0, 1),
    bytes(0x20, 0, 0, 0, 0, 0, 0),
    new Uint8Array(200).fill(255),
    [],
    undefined,
  ]) {
    assert.throws(() => integerOf(wrong, 'the time'), /^EvmFault: the time is not/);
  }
});

test('distinguishes lists from bytes, and bytes by their length', () => {
  assert.deepEqual(bytesOf(bytes(1, 2), 'it', 2), bytes(1, 2));
  assert.throws(() => bytesOf(bytes(1), 'it', 2), /it is not 2 bytes/);
  assert.throws(() => bytesOf([], 'it'), /it is not bytes/);
  assert.throws(() => bytesOf(undefined, 'it'), /it is not bytes/);
  assert.deepEqual(listOf([], 'it'), []);
  for (const wrong of [bytes(), undefined]) assert.throws(() => listOf(wrong, 'it'), /it is not a list/);
});
