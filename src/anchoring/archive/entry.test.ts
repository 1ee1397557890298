/** Entries of the archive: what is written is read, with its own key and unchanged bytes only. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EntryDamaged, packEntry, unpackEntry } from './entry.ts';

const text = JSON.stringify([{ id: 1, data: '{"größe":"„7“"}', leaf: `\\x${'ab'.repeat(32)}` }]);

test('reads what was written, and no two entries share a key', () => {
  const [one, other] = [packEntry(text), packEntry(text)];
  assert.equal(unpackEntry(one), text);
  assert.notDeepEqual(one.key, other.key);
  assert.notDeepEqual(one.bytes, other.bytes);
});

test('refuses another key, a changed byte, and a missing end', () => {
  const { key, bytes } = packEntry(text);
  assert.throws(() => unpackEntry({ key: packEntry(text).key, bytes }), EntryDamaged);
  for (const at of [0, bytes.length >> 1, bytes.length - 1]) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.throws(() => unpackEntry({ key, bytes: changed }), EntryDamaged, `byte ${at}`);
  }
  assert.throws(() => unpackEntry({ key, bytes: bytes.subarray(0, -1) }), EntryDamaged);
  assert.throws(() => unpackEntry({ key, bytes: Buffer.alloc(3) }), EntryDamaged);
});

test('the bytes of the format never change', () => {
  // An entry that this version wrote: later ones must read it.
  const key = Buffer.alloc(32, 7);
  const bytes = Buffer.from('ea9eeea6632384fcb6b23e6404d4fedbcf84619aa51cfd3c95b4da41', 'hex');
  assert.equal(unpackEntry({ key, bytes }), '[{"id": 1, "kind": "record", "version": 1}]');
});
