/** The table of dashboard pages: complete, and without duplicate paths. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { dashboardFolder } from './dashboard-build.ts';
import { pageTable } from './dashboard-table.ts';

const folder = join(dashboardFolder, 'src');

test('every lazily loaded page is in the table, and exports only its component', () => {
  const files = globSync('**/*-page.tsx', { cwd: folder });
  const listed = pageTable.flatMap((page) => ('file' in page ? [`${page.file}-page.tsx`] : []));
  assert.deepEqual(files.sort(), listed.sort());
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8');
    assert.deepEqual(text.match(/^export .*/gm)?.length, 1, file);
    assert.match(text, /^export function \w+Page\(\)/m, file);
  }
});

test('no two pages have the same path', () => {
  assert.equal(new Set(pageTable.map(({ path }) => path)).size, pageTable.length);
});
