/** Holds the table of mutations against the sources: what `npm run test:mutations` would change is still there. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { mutations } from './list.ts';
import { mutated } from './mutation.ts';

const root = join(import.meta.dirname, '../..');

test('the text of every mutation occurs exactly once in its file, and the mutation changes it', () => {
  for (const mutation of mutations) {
    const source = readFileSync(join(root, mutation.file), 'utf8');
    assert.notEqual(mutated(source, mutation), source, mutation.name);
  }
});

test('every mutation has a unique name, a reason, and existing tests', () => {
  assert.equal(new Set(mutations.map(({ name }) => name)).size, mutations.length);
  for (const { name, why, tests, vector } of mutations) {
    assert.match(why, /^[A-Z].*\.$/, name);
    assert.ok(tests.length > 0, name);
    for (const file of tests) assert.ok(existsSync(join(root, file)), `${name}: there is no ${file}`);
    if (vector !== undefined)
      assert.ok(existsSync(join(root, `test/vectors/${vector}.json`)), `${name}: there is no ${vector}`);
  }
});
