/** Holds the layout: rooms of a bounded size, imports that point down the floors and never in circles, and what the names say. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { floors } from '../docs/generator/rooms.ts';
import { programs } from './support/programs/table.ts';

const root = resolve(import.meta.dirname, '..');
const files = globSync('src/**/*.ts', { cwd: root })
  .filter((file) => !isTest(file))
  .sort();
/** With tests, pages, tools and examples. */
const everyFile = globSync(
  '{src,test,dashboard/src,pages,bench,docs/generator,examples,contracts,clients}/**/*.{ts,tsx}',
  {
    cwd: root,
    exclude: ['**/node_modules/**', '**/dist/**', 'clients/typescript/src/{openapi-types,operations}.ts'],
  },
);

const largestRoom = 20;

const knownTables = new Set(
  globSync('src/db/tables/*.ts', { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/^ {2}([a-z_]+): \{$/gm)].map(
      ([, name = '']) => name,
    ),
  ),
);

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

test('only routes, loops and the files that compose the service import the HTTP shell', () => {
  const allowed = /\.(routes|loop|part)\.ts$|^src\/(app|http)\//;
  const wrong = [...imports].filter(
    ([file, targets]) => !allowed.test(file) && targets.some((target) => target.startsWith('src/http/')),
  );
  assert.deepEqual(
    wrong.map(([file]) => file),
    [],
  );
});

test('there are no import cycles, including types, between files or rooms', () => {
  requireNoCircle(imports);
  for (const folder of ['dashboard/src', 'pages', 'test', 'docs', 'clients/generator']) {
    const others = globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root });
    requireNoCircle(new Map(others.map((file) => [file, importsOf(file)])));
  }
  const rooms = new Map<string, string[]>();
  for (const [file, targets] of imports) {
    const room = dirname(file);
    rooms.set(room, [...(rooms.get(room) ?? []), ...targets.map(dirname).filter((other) => other !== room)]);
  }
  requireNoCircle(rooms);
});

test('only main.ts is outside a room, and no room but that of the commands has more than 20 files', () => {
  const sizes = Map.groupBy(files, (file) => dirname(file));
  assert.deepEqual(sizes.get('src'), ['src/main.ts']);
  const large = [...sizes].filter(([room, { length }]) => room !== 'src/cli' && length > largestRoom);
  assert.deepEqual(
    large.map(([room]) => room),
    [],
  );
});

test('routes, loops, parts and commands contain no SQL', () => {
  const without =
    /\.(routes|loop|part|thread)\.ts$|^src\/(cli|config|pdf|http\/(server|pages|admission|bodies))\//;
  const statement = /\bsql(<[^`]*>)?`|\.(selectFrom|insertInto|updateTable|deleteFrom)\(/;
  assert.deepEqual(
    files.filter((file) => without.test(file) && statement.test(readFileSync(join(root, file), 'utf8'))),
    [],
  );
});

test('a table is written only in the wing that it belongs to', () => {
  // The keyring encrypts them, and whoever has a secret stores it with what it is a secret of.
  const everybodys = ['secrets'];
  const writers = new Map<string, Set<string>>();
  const written =
    /\b(?:insert into|update|delete from)\s+([a-z_]+)\b|\.(?:insertInto|updateTable|deleteFrom)\('([a-z_]+)|table: '([a-z_]+)',\s*row\b/g;
  // A restore writes all of them, and checks write none.
  for (const file of files.filter((file) => !/^src\/(backup|db)\/|\.check\.ts$/.test(file))) {
    const code = readFileSync(join(root, file), 'utf8').replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, '');
    for (const [, ...tables] of code.matchAll(written)) {
      const table = tables.find((one) => one !== undefined) ?? '';
      if (!knownTables.has(table) || everybodys.includes(table)) continue;
      writers.set(table, (writers.get(table) ?? new Set()).add(file.split('/')[1] ?? ''));
    }
  }
  assert.ok(writers.size > 30, `${writers.size} tables`);
  assert.deepEqual(
    [...writers].filter(([, wings]) => wings.size > 1).map(([table, wings]) => `${table}: ${[...wings]}`),
    [],
  );
});

test('pure rooms use neither Node.js nor a database', () => {
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

test('test code is in test/, and the service imports nothing from there', () => {
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

test('every file opens with a comment that says what it is for', () => {
  for (const file of everyFile) {
    assert.match(readFileSync(join(root, file), 'utf8'), /^\/\*\*/, `${file} does not open with a comment`);
  }
});

test('no file has more than 400 lines, including tests and pages', () => {
  assert.ok(everyFile.length > 800, `${everyFile.length} files`);
  const long = everyFile.filter((file) => readFileSync(join(root, file), 'utf8').split('\n').length > 401);
  assert.deepEqual(long, []);
});

test('only settings and commands read the environment', () => {
  const readers = files.filter((file) => /process\.env/.test(readFileSync(join(root, file), 'utf8')));
  assert.deepEqual(
    readers.filter((file) => !/^src\/(config|cli)\//.test(file)),
    [],
  );
});

test('no test file awaits at its top level: they are loaded at once, one after the other', () => {
  const awaiting = everyFile
    .filter(isTest)
    .filter((file) => /^[^\s/*](?!.*\basync\b).*\bawait\b/m.test(readFileSync(join(root, file), 'utf8')));
  assert.deepEqual(awaiting, []);
});

test('tests get at optional programs through needs() alone', () => {
  const names = Object.values(programs)
    .flatMap(({ commands }) => commands)
    .join('|');
  const wrong: [what: string, pattern: RegExp][] = [
    ['starts it by its name', new RegExp(`\\w\\(\\s*(['"\`])(${names})\\1,\\s*(\\[|\\w*[aA]rg)`)],
    [
      'starts it from its place',
      new RegExp(`/usr/(local/)?s?bin/(${names})\\b|/usr/lib/postgresql/(\\d|\\$)`),
    ],
    [
      'looks for it itself',
      /(findProgram|programs)\b[^;]*programs\/(find|table)\.ts'|\['(--version|-v|version)'\]\)\.status/,
    ],
    ['starts the browser itself', /\bchromium\b[^;]* from 'playwright|chromium\.launch/],
  ];
  const allowed =
    /^test\/(support\/programs|mutations)\/|^test\/(runner\/versions|faults\/main|architecture\.test)\.ts$/;
  const theBrowser = 'test/support/clients/browser.ts';
  const tests = everyFile.filter((file) => (file.startsWith('test/') || isTest(file)) && !allowed.test(file));
  const found = tests.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return wrong
      .filter(([what, pattern]) => pattern.test(text) && !(file === theBrowser && what.includes('browser')))
      .map(([what]) => `${file} ${what}`);
  });
  assert.deepEqual(found, []);
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
  const found = [...text.matchAll(/(?:from|import|new URL\()\s*\(?['"](\.[^'"]+\.tsx?)['"]/g)].map(
    ([, target = '']) => target,
  );
  return found.map((target) => relative(root, join(root, dirname(file), target)));
}

function isTest(file: string): boolean {
  return file.endsWith('.test.ts');
}
