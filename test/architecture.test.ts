/** Holds the layout: imports point down the floors, never in circles, and no file is named by its kind. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(import.meta.dirname, '..');
const files = globSync('src/**/*.ts', { cwd: root })
  .filter((file) => !isTest(file))
  .sort();

/** From the top down; a file may import from its own floor and those below. */
const floors = [
  ['src/main.ts', 'src/cli/'],
  ['src/app/'],
  ['src/maintenance/'],
  ['src/holdings/'],
  ['src/anchoring/', 'src/webhooks/', 'src/backup/'],
  ['src/events/', 'src/access/'],
  ['src/http/', 'src/proof/'],
  ['src/chain/', 'src/blobs/'],
  ['src/keys/'],
  ['src/db/', 'src/config/', 'src/pdf/'],
  ['src/runtime/'],
];

const imports = new Map(files.map((file) => [file, importsOf(file)]));

test('every file has a floor', () => {
  assert.deepEqual(
    files.filter((file) => floorOf(file) === -1),
    [],
  );
});

test('imports point down', () => {
  const upward = [...imports].flatMap(([file, targets]) =>
    targets.filter((target) => floorOf(target) < floorOf(file)).map((target) => `${file} imports ${target}`),
  );
  assert.deepEqual(upward, []);
});

test('only routes, loops and the files that put the service together import the HTTP shell', () => {
  const allowed = /\.routes\.ts$|\.loop\.ts$|^src\/(app|http)\//;
  const wrong = [...imports].filter(
    ([file, targets]) => !allowed.test(file) && targets.some((target) => target.startsWith('src/http/')),
  );
  assert.deepEqual(
    wrong.map(([file]) => file),
    [],
  );
});

test('no import goes round in a circle, types included', () => {
  const finished = new Set<string>();
  const visit = (file: string, path: string[]): void => {
    assert.ok(!path.includes(file), `circle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
    if (finished.has(file)) return;
    for (const target of imports.get(file) ?? []) visit(target, [...path, file]);
    finished.add(file);
  };
  for (const file of files) visit(file, []);
});

test('no file is named by its kind', () => {
  const kinds = /(^|\/)(utils?|helpers?|common|shared|misc|types|interfaces|constants|index|lib)(\.ts|\/)/;
  assert.deepEqual(
    files.filter((file) => kinds.test(file)),
    [],
  );
});

test('every file opens by saying what it is for, and stays under 400 lines', () => {
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8');
    assert.match(text, /^\/\*\*/, `${file} does not open with a comment`);
    assert.ok(text.split('\n').length <= 400, `${file} is longer than 400 lines`);
  }
});

test('only config.ts and main.ts touch the environment', () => {
  const readers = files.filter((file) => /process\.env/.test(readFileSync(join(root, file), 'utf8')));
  assert.deepEqual(
    readers.filter((file) => !/^src\/(config|cli)\//.test(file)),
    [],
  );
});

function floorOf(file: string): number {
  return floors.findIndex((floor) =>
    floor.some((place) => (place.endsWith('/') ? file.startsWith(place) : file === place)),
  );
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const found = [...text.matchAll(/(?:from|import|new URL\()\s*\(?['"](\.[^'"]+\.ts)['"]/g)].map(
    ([, target = '']) => target,
  );
  return found.map((target) => relative(root, join(root, dirname(file), target)));
}

function isTest(file: string): boolean {
  return file.endsWith('.test.ts');
}
