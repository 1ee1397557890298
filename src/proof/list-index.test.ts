/** The index of a list: every item of a key, and one pass over the list. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createListIndex } from './list-index.ts';

test('finds all items of a key, in the order of the list, and reads a list only once', () => {
  let read = 0;
  const byHeight = createListIndex(({ height }: { height: number; name: string }) => {
    read += 1;
    return height;
  });
  const list = [7, 3, 7, 0, 7].map((height, at) => ({ height, name: `${at}` }));
  const names = (height: number) => byHeight(list, height).map(({ name }) => name);
  assert.deepEqual([names(7), names(3), names(0), names(1)], [['0', '2', '4'], ['1'], ['3'], []]);
  assert.equal(read, list.length);
  assert.deepEqual(byHeight([], 7), []);
});
