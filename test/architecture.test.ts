/** Holds the layout: rooms of a bounded size, imports that point down the floors and never in circles, and what the names say. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { floors } from '../docs/generator/rooms.ts';

const root = resolve(import.meta.dirname, '..');
const files = globSync('src/**/*.ts', { cwd: root })
  .filter((file) => !isTest(file))
  .sort();

const largestRoom = 20;

const imports = new Map(files.map((file) => [file, importsOf(file)]));

test('every file is in a room of the table, and every room has files', () => {
  const rooms = floors.flat().map(({ path }) => path);
  assert.deepEqual([...new Set(files.map(roomOf))].sort(), rooms.toSorted());
});

test('imports point down', () => {
  const upward = [...imports].flatMap(([file, targets]) =>
    targets.filter((target) => floorOf(target) < floorOf(file)).map((target) => `${file} imports ${target}`),
  );
  assert.deepEqual(upward, []);
});

test('only routes, loops and the files that put the service together import the HTTP shell', () => {
  const allowed = /\.(routes|loop|part)\.ts$|^src\/(app|http)\//;
  const wrong = [...imports].filter(
    ([file, targets]) => !allowed.test(file) && targets.some((target) => target.startsWith('src/http/')),
  );
  assert.deepEqual(
    wrong.map(([file]) => file),
    [],
  );
});

test('no import goes round in a circle, types included, between files or between rooms', () => {
  requireNoCircle(imports);
  const rooms = new Map<string, string[]>();
  for (const [file, targets] of imports) {
    const room = dirname(file);
    rooms.set(room, [...(rooms.get(room) ?? []), ...targets.map(dirname).filter((other) => other !== room)]);
  }
  requireNoCircle(rooms);
});

test('only main.ts lies outside a room, and no room but that of the commands has more than 20 files', () => {
  const sizes = Map.groupBy(files, (file) => dirname(file));
  assert.deepEqual(sizes.get('src'), ['src/main.ts']);
  const large = [...sizes].filter(([room, { length }]) => room !== 'src/cli' && length > largestRoom);
  assert.deepEqual(
    large.map(([room]) => room),
    [],
  );
});

test('pure rooms need neither Node.js nor a database', () => {
  const pure = floors.flat().filter(({ job }) => job.startsWith('PURE'));
  assert.ok(pure.length > 0);
  for (const file of files.filter((file) => pure.some(({ path }) => path === roomOf(file)))) {
    const text = readFileSync(join(root, file), 'utf8');
    assert.doesNotMatch(text, /from '(node:|pg|kysely)/, file);
    const allowed = [...pure.map(({ path }) => path), 'src/runtime/'];
    assert.deepEqual(
      (imports.get(file) ?? []).filter((target) => !allowed.includes(roomOf(target))),
      [],
      file,
    );
  }
});

test('what only tests need is in test/, and the service imports nothing from there', () => {
  const all = globSync('src/**/*.ts', { cwd: root });
  assert.deepEqual(
    all.filter((file) => /test-fixture|fixture|\.child\./.test(file)),
    [],
  );
  const importing = [...imports].filter(([, targets]) =>
    targets.some((target) => target.startsWith('test/')),
  );
  assert.deepEqual(
    importing.map(([file]) => file),
    [],
  );
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

test('only the settings and the commands read the environment', () => {
  const readers = files.filter((file) => /process\.env/.test(readFileSync(join(root, file), 'utf8')));
  assert.deepEqual(
    readers.filter((file) => !/^src\/(config|cli)\//.test(file)),
    [],
  );
});

function requireNoCircle(arrows: Map<string, string[]>): void {
  const finished = new Set<string>();
  const visit = (from: string, path: string[]): void => {
    assert.ok(!path.includes(from), `circle: ${[...path.slice(path.indexOf(from)), from].join(' → ')}`);
    if (finished.has(from)) return;
    for (const to of arrows.get(from) ?? []) visit(to, [...path, from]);
    finished.add(from);
  };
  for (const from of arrows.keys()) visit(from, []);
}

function floorOf(file: string): number {
  return floors.findIndex((floor) => floor.some(({ path }) => path === roomOf(file)));
}

function roomOf(file: string): string {
  return file === 'src/main.ts' ? file : `${dirname(file)}/`;
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
