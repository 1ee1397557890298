/** Ids as bytes: the same order, and the same id again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, packId, packIds, unpackId, unpackIds } from './ids.ts';

test('an id becomes 16 bytes that sort as it does, and comes back the same', () => {
  const ids = [
    'aud_00000000000000000000000000',
    'aud_0000000000ZZZZZZZZZZZZZZZZ',
    'aud_7ZZZZZZZZZZZZZZZZZZZZZZZZZ',
    ...Array.from({ length: 1000 }, () => newId('aud')),
  ];
  const packed = ids.map((id) => packId('aud', id) as Buffer);
  assert.deepEqual(
    packed.map((bytes) => unpackId('aud', bytes)),
    ids,
  );
  assert.deepEqual(
    packed.toSorted(Buffer.compare).map((bytes) => unpackId('aud', bytes)),
    ids.toSorted(),
  );
  assert.equal(packed[2]?.toString('hex'), 'f'.repeat(32));
});

test('what is no id of that kind has no bytes', () => {
  const id = newId('aud');
  const others = [
    '',
    'aud_',
    newId('evt'),
    `${id}0`,
    id.slice(0, -1),
    id.toLowerCase(),
    `aud_8${id.slice(5)}`,
  ];
  for (const text of [...others, `${id.slice(0, -1)}U`, `${id.slice(0, -1)}é`]) {
    assert.equal(packId('aud', text), null, text);
  }
});

test('several ids are 16 bytes each, in their order', () => {
  const ids = Array.from({ length: 100 }, () => newId('rec'));
  const bytes = packIds('rec', ids);
  assert.equal(bytes.length, 1600);
  assert.deepEqual(unpackIds('rec', bytes), ids);
  assert.deepEqual(unpackIds('rec', packIds('rec', [])), []);
  assert.throws(() => packIds('rec', [newId('aud')]), /not an id of this kind/);
});
