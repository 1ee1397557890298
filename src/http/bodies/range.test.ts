/** Range requests as RFC 9110 defines them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/support/service/properties.ts';
import { contentRange, isUnchanged, rangeOf } from './range.ts';

const etag = '"abc"';
const of = (range: string | undefined, size = 1000, ifRange?: string) =>
  rangeOf({ range, 'if-range': ifRange }, { size, etag });

test('a range has a first and a last byte, or leaves one of them open', () => {
  assert.deepEqual(of('bytes=0-499'), { start: 0, end: 500 });
  assert.deepEqual(of('bytes=500-999'), { start: 500, end: 1000 });
  assert.deepEqual(of('bytes=999-'), { start: 999, end: 1000 });
  assert.deepEqual(of('bytes=-500'), { start: 500, end: 1000 });
  assert.deepEqual(of('Bytes= 0-0 '), { start: 0, end: 1 });
  assert.equal(contentRange({ start: 500, end: 1000 }, 1000), 'bytes 500-999/1000');
});

test('cuts off a range at the end of the content', () => {
  assert.deepEqual(of('bytes=900-5000'), { start: 900, end: 1000 });
  assert.deepEqual(of('bytes=-5000'), { start: 0, end: 1000 });
  assert.deepEqual(of(`bytes=0-${'9'.repeat(400)}`), { start: 0, end: 1000 });
});

test('ignores anything but a single range of bytes', () => {
  for (const range of [undefined, '', 'bytes', 'bytes=', 'bytes=-', 'bytes=a-b', 'bytes=5-2', 'items=0-1']) {
    assert.equal(of(range), 'whole', String(range));
  }
  assert.equal(of('bytes=0-1,5-6'), 'whole');
  assert.equal(of('bytes=0x1-0x2'), 'whole');
});

test('reports a range without any byte of the content as unsatisfiable', () => {
  for (const range of ['bytes=1000-', 'bytes=1000-1001', 'bytes=-0', `bytes=${'9'.repeat(400)}-`]) {
    assert.equal(of(range), 'none', range);
  }
  assert.equal(of('bytes=0-', 0), 'none');
  assert.equal(of('bytes=-1', 0), 'whole');
});

test('If-Range returns the part only if the content is the same', () => {
  assert.deepEqual(of('bytes=0-1', 1000, etag), { start: 0, end: 2 });
  for (const other of ['"abd"', `W/${etag}`, 'Sun, 15 Nov 2026 10:00:00 GMT', '']) {
    assert.equal(of('bytes=0-1', 1000, other), 'whole', other);
  }
  // Not refused either: the whole is sent.
  assert.equal(of('bytes=5000-', 1000, '"abd"'), 'whole');
});

test('If-None-Match compares weakly, and accepts lists and *', () => {
  for (const header of [etag, `W/${etag}`, `"x", ${etag}`, '*']) assert.ok(isUnchanged(header, etag), header);
  for (const header of [undefined, '', '"x"', 'abc']) assert.ok(!isUnchanged(header, etag), String(header));
});

test('a part always lies within the content and is never empty', () => {
  const number = fc.oneof(fc.constant(''), fc.nat(40).map(String), fc.bigInt({ min: 0n }).map(String));
  fc.assert(
    fc.property(number, number, fc.nat(30), (first, last, size) => {
      const part = of(`bytes=${first}-${last}`, size);
      if (typeof part === 'string') return;
      assert.ok(0 <= part.start && part.start < part.end && part.end <= size);
    }),
  );
});
