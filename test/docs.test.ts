/** Documents that list things list what is there. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { generatedFiles, root } from '../docs/generator/parts.ts';

test('the generated parts of documents are current: npm run docs', () => {
  for (const { file, current, wanted } of generatedFiles()) assert.equal(current, wanted, file);
});

test('every file of the code that a document names is there', () => {
  for (const document of globSync('{*.md,docs/*.md}', { cwd: root })) {
    const text = readFileSync(join(root, document), 'utf8');
    for (const [path] of text.matchAll(/(?<=\.\.\/|[^\w/])(src|test|bench)\/[\w./-]+\.ts\b/g)) {
      assert.ok(existsSync(join(root, path)), `${document} names ${path}`);
    }
  }
});
