/** The strict JSON parser: what it refuses, its limits, and its running time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { threadCpuMs } from '../../test/support/service/cpu-time.ts';
import { findJsonFault } from './json-fault.ts';
import { JsonTextError, maxJsonDepth, parseJsonText } from './json-text.ts';

test('refuses a number that would change when it is parsed', () => {
  const changed = [
    '1.000000000000000001',
    '9007199254740993',
    '1.0000000000000001',
    '333333333.33333329',
    '0.1000000000000000055511151231257827',
    '1e400',
    '-1E+309',
    '1e-400',
    '123456789012345678e-3',
    '[0,{"a":0.30000000000000004440}]',
  ];
  for (const text of changed)
    assert.throws(() => parseJsonText(text), /would be read as .*as a string/, text);
  assert.throws(
    () => parseJsonText('{"x":"y,","a":[0,{"b\\"":[[],{"c":3,"d":1e999'),
    /^JsonTextError: a\[1\]\.b"\[1\]\.d would be read/,
  );
  const kept = [
    ...['0', '-0', '-0.0', '0e99', '0E-99', '1.10', '1e21', '5e-324', '1.7976931348623157e308', '1E2'],
    ...[
      '0.1',
      '0.30000000000000004',
      '9007199254740991',
      '100000000000000000000000',
      '1.50000000000000000000',
    ],
    ...['999999999999999', '1e-7', '123456789012e99', '[true,false,null,"1e400",{"e":"e"}]'],
  ];
  for (const text of kept) assert.deepEqual(parseJsonText(text), JSON.parse(text), text);
});

test('throws a SyntaxError for text that is not JSON or ends too early', () => {
  for (const text of [
    '',
    '"',
    '"\\',
    '{"a"',
    '[1,',
    '-',
    'nul',
    '{"a":1}}',
    '"\\"',
    '1.2.3e45',
    '[0.1.0.0.0.0.0.0.0.0]',
  ])
    assert.throws(() => parseJsonText(text), SyntaxError, text);
});

test('limits nesting and the number of values before it parses the text', () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  assert.ok(parseJsonText(deep(maxJsonDepth)));
  assert.throws(() => parseJsonText(deep(1_000_000)), /nested more than 64 levels/);
  assert.throws(() => parseJsonText('['.repeat(1_000_000)), JsonTextError);
  assert.ok(parseJsonText('{"a":[1,2]}', { values: 4 }));
  assert.throws(() => parseJsonText('{"a":[1,2]}', { values: 3 }), /more than 3 names and values/);
});

/** Each grows with `size`, so that more than linear work shows. */
const hostile: Record<string, (size: number) => string> = {
  'one long name above many elements': (size) =>
    `{"${'a'.repeat(size / 2)}":[${'0,'.repeat(size / 4)}"\\u0000"]}`,
  'long strings of escapes': (size) => `"${'\\"'.repeat(size / 4)}${'\\\\'.repeat(size / 4)}"`,
  'one long number': (size) => `[0.${'0'.repeat(size)}]`,
  'a number with zeros inside': (size) => `[1${'0'.repeat(size)}1e-9]`,
  'many numbers': (size) => `[${'1.5e300,'.repeat(size / 8)}0]`,
  'many blanks': (size) => `[${' '.repeat(size)}]`,
  'many names that begin alike': (size) =>
    `{${Array.from({ length: size / 128 }, (_, n) => `"${'a'.repeat(100)}${n}":0`).join()}}`,
};

for (const [name, make] of Object.entries(hostile)) {
  test(`parsing ${name} takes time in proportion to its length`, () => {
    const [small, large] = [make(1 << 17), make(1 << 20)];
    const costs = { small: Number.POSITIVE_INFINITY, large: Number.POSITIVE_INFINITY };
    // The minimum of several runs is close to the cost without garbage collection and cache misses.
    for (let turn = 0; turn < 20; turn += 1) {
      costs.small = Math.min(costs.small, costOf(small));
      costs.large = Math.min(costs.large, costOf(large));
      // Eight times the text; quadratic work would take 64 times as long. The least that counts is half a millisecond.
      if (turn > 2 && costs.large <= 24 * Math.max(costs.small, 0.5)) return;
    }
    assert.fail(`${costs.small} ms, then ${costs.large} ms`);
  });
}

function findFault(value: unknown): string | null {
  const noNul = (found: unknown) => (typeof found === 'string' && found.includes('\0') ? 'holds NUL' : null);
  return findJsonFault(value, '', { value: noNul, name: noNul });
}

/** In milliseconds of CPU time of this thread. */
function costOf(text: string): number {
  const before = threadCpuMs();
  try {
    findFault(parseJsonText(text));
  } catch (error) {
    assert.ok(error instanceof JsonTextError);
  }
  return threadCpuMs() - before;
}

test('names a fault with its path, and truncates a long path', () => {
  assert.equal(findFault({ a: [{ b: 'x' }, { c: '\0' }] }), 'a[1].c holds NUL.');
  assert.equal(findFault('\0'), 'The body holds NUL.');
  assert.equal(
    findFault({ ['n'.repeat(1_000)]: { m: '\0' } })?.length,
    'n'.repeat(200).length + ' holds NUL.'.length,
  );
});
