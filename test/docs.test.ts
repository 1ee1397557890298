/** Documents that list things list what is there. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { generatedFiles, root } from '../docs/generator/parts.ts';

test('the generated parts of documents are up to date: npm run docs', () => {
  for (const { file, current, wanted } of generatedFiles()) assert.equal(current, wanted, file);
});

test('every source file that a document names exists', () => {
  for (const document of globSync('{*.md,docs/*.md}', { cwd: root })) {
    const text = readFileSync(join(root, document), 'utf8');
    for (const [path] of text.matchAll(/(?<=\.\.\/|[^\w/])(src|test|bench)\/[\w./-]+\.ts\b/g)) {
      assert.ok(existsSync(join(root, path)), `${document} names ${path}`);
    }
  }
});

test('every test that a document quotes exists under that name', () => {
  let quoted = 0;
  for (const document of globSync('{*.md,docs/*.md}', { cwd: root })) {
    const text = readFileSync(join(root, document), 'utf8').replace(/\n\s+/g, ' ');
    for (const [, file, name] of text.matchAll(/`((?:src|test)\/[\w./-]+\.test\.ts)`: "([^"…]+)/g)) {
      const tests = readFileSync(join(root, file ?? ''), 'utf8');
      assert.ok(tests.includes(`'${name?.trimEnd()}`), `${document} quotes "${name}" of ${file}`);
      quoted += 1;
    }
  }
  assert.ok(quoted >= 60, `${quoted} quoted tests`);
});
