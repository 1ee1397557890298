/** Patterns of event types. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anchorEventTypes, eventTypes } from './catalogue.ts';
import { typePatterns, typesOf } from './type-patterns.ts';

test('a pattern stands for the types with its prefix, by whole words', () => {
  assert.deepEqual(typesOf(['vault.*']), ['vault.deactivated', 'vault.reactivated']);
  assert.deepEqual(typesOf(['file.anchor.*']), ['file.anchor.confirmed']);
  assert.deepEqual(typesOf(['*']), eventTypes);
  assert.deepEqual(typesOf(['vault.deactivated', 'vault.*']), ['vault.deactivated', 'vault.reactivated']);
  assert.deepEqual(typesOf(['vault', 'va*', 'vault.deactivated.*', 'vault.deactivate']), []);
});

test('the patterns on offer stand for at least one type each', () => {
  for (const pattern of typePatterns) assert.ok(typesOf([pattern]).length > 0, pattern);
  assert.equal(new Set(typePatterns).size, typePatterns.length);
  for (const type of anchorEventTypes) assert.ok(typePatterns.includes(type));
});
