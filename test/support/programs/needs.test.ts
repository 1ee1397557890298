/** Tests that need a program which is missing are skipped, or fail where it is required; and none gets at it unannounced. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { requiredPrograms } from './find.ts';
import { programNames, programs } from './table.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-needs-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A file of tests in a process of its own; what it prints is in the order in which things ran. */
function run(code: string, env: Record<string, string> = {}): { status: number | null; stdout: string } {
  const file = join(folder, 'one.test.ts');
  const module = JSON.stringify(join(import.meta.dirname, 'needs.ts'));
  writeFileSync(
    file,
    `import * as plain from 'node:test';\nimport { needs, pathOf } from ${module};\n${code}`,
  );
  const { NODE_TEST_CONTEXT: _, HOLDFAST_TEST_BARE: __, HOLDFAST_TEST_REQUIRE: ___, ...rest } = process.env;
  const given = { ...rest, PATH: join(folder, 'bin'), ...env };
  return spawnSync(process.execPath, ['--test-reporter', 'tap', file], { env: given, encoding: 'utf8' });
}

const file = `
  const { test, describe, before, after } = needs('deno');
  before(() => console.log('before', typeof pathOf('deno')));
  after(() => console.log('after', typeof pathOf('deno')));
  test('one', () => console.log('one', typeof pathOf('deno')));
  test('timed', { timeout: 60_000 }, (t) => t.test('inner', () => console.log('inner', typeof pathOf('deno'))));
  test('left out', { skip: 'for its own reason' }, () => console.log('never'));
  describe('group', () => {
    plain.before(() => console.log('in group', typeof pathOf('deno')));
    plain.test('grouped', () => console.log('grouped', typeof pathOf('deno')));
  });`;

const linesOf = (stdout: string) =>
  stdout.split('\n').filter((line) => /^(# )?(before|after|one|inner|in group|grouped|never)\b/.test(line));

test('where the program is missing, tests and hooks do not run, and say what is needed', () => {
  const { status, stdout } = run(file);
  assert.equal(status, 0, stdout);
  assert.deepEqual(linesOf(stdout), []);
  for (const name of ['one', 'timed', 'group'])
    assert.match(
      stdout,
      new RegExp(`^ok \\d - ${name} # SKIP needs deno \\(Debian has no package of it\\)$`, 'm'),
    );
  assert.match(stdout, /^ok \d - left out # SKIP for its own reason$/m);
});

test('where it is required, they fail', () => {
  const { status, stdout } = run(file, { HOLDFAST_TEST_REQUIRE: 'go,deno' });
  assert.equal(status, 1, stdout);
  assert.deepEqual(linesOf(stdout), []);
  for (const name of ['one', 'timed', 'group'])
    assert.match(stdout, new RegExp(`^not ok \\d - ${name}$`, 'm'));
  assert.match(stdout, /It needs deno \(.*\), and this run requires it\./);
  assert.match(stdout, /^ok \d - left out # SKIP for its own reason$/m);
  assert.equal(run(file, { HOLDFAST_TEST_REQUIRE: 'all' }).status, 0);
});

test('where it is here, everything runs and has it, unless nothing is to be seen', () => {
  const bin = mkdtempSync(join(folder, 'bin-'));
  writeFileSync(join(bin, 'deno'), '#!/bin/sh\n', { mode: 0o755 });
  const { status, stdout } = run(file, { PATH: bin });
  assert.equal(status, 0, stdout);
  const names = ['before', 'one', 'inner', 'in group', 'grouped', 'after'];
  assert.deepEqual(
    linesOf(stdout).map((line) => line.replace('# ', '')),
    names.map((name) => `${name} string`),
  );
  assert.deepEqual(linesOf(run(file, { PATH: bin, HOLDFAST_TEST_BARE: '1' }).stdout), []);
});

test('a test or hook that has not said so does not get the program, also where it is here', () => {
  for (const forgotten of ["plain.test('one', use)", "plain.before(use); plain.test('one', () => {})"]) {
    const { status, stdout } = run(`const use = () => void pathOf('python3');\n${forgotten};`, {
      PATH: process.env.PATH ?? '',
    });
    assert.equal(status, 1, stdout);
    assert.match(stdout, /What uses python3 is a test or hook of needs\('python3'\)/);
  }
});

test('all are those that can be had here, and a wrong name is told', () => {
  const { names, unknown } = requiredPrograms('all,bun, chromum');
  assert.deepEqual(unknown, ['chromum']);
  assert.ok(names.has('bun') && !names.has('deno'));
  assert.equal(names.has('go'), process.platform === 'linux');
  for (const name of programNames) {
    const { debian, notInAll } = programs[name];
    assert.ok(debian.length > 0 || notInAll !== undefined, `${name}: what brings it, or why nothing does`);
  }
});
