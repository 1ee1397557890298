/** Documents that list things list what is there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generatedFiles } from '../docs/generator/parts.ts';

test('the generated parts of documents are current: npm run docs', () => {
  for (const { file, current, wanted } of generatedFiles()) assert.equal(current, wanted, file);
});
