/** The workflow of CI: four jobs, which run scripts that exist, where nothing is installed and where everything is. */
import assert from 'node:assert/strict';
import { accessSync, constants, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { parseYaml } from '@redocly/openapi-core';

interface Job {
  strategy?: { matrix: { include?: { command: string }[] } };
  steps: { run?: string; uses?: string }[];
}

const root = resolve(import.meta.dirname, '..');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { jobs } = parseYaml(readFileSync(join(root, '.github/workflows/ci.yml'), 'utf8')) as {
  jobs: Record<string, Job>;
};

/** What a job runs, with the commands of its matrix in their place. */
function commandsOf({ steps, strategy }: Job): string[] {
  const ofMatrix = strategy?.matrix.include?.map(({ command }) => command) ?? [];
  const place = '$' + '{{ matrix.command }}';
  return steps.flatMap(({ run }) => (run === undefined ? [] : run === place ? ofMatrix : [run]));
}

test('every tier and the static checks have a job, which ends with its command', () => {
  assert.deepEqual(
    Object.entries(jobs).map(([name, job]) => [name, commandsOf(job).at(-1)]),
    [
      ['check', 'npm run check'],
      ['test', 'npm test'],
      ['process', 'npm run test:process -- --require all'],
      ['long', 'npm run test:long -- --require all'],
    ],
  );
  assert.ok(commandsOf(jobs.test ?? assert.fail()).includes('test/bare.sh npm test'));
});

test('a job runs scripts of package.json, programs of test/, and what prepares them', () => {
  const preparing =
    /^(npm ci|apt-get update && apt-get install [\w -]+|git config --global --add safe\.directory .*)$/;
  for (const command of Object.values(jobs).flatMap(commandsOf)) {
    if (preparing.test(command)) continue;
    const [, program, , script] =
      /^(test\/\w+\.sh)? ?(npm (?:run )?([\w:]+)(?: -- [\w -]+)?)?$/.exec(command) ?? [];
    assert.ok(program !== undefined || script !== undefined, command);
    if (program !== undefined) accessSync(join(root, program), constants.X_OK);
    if (script !== undefined) assert.ok(script in scripts, command);
  }
});

test('actions are named by a version', () => {
  for (const { uses } of Object.values(jobs).flatMap(({ steps }) => steps))
    if (uses !== undefined) assert.match(uses, /^actions\/[\w-]+@(v\d+|[0-9a-f]{40})$/);
});
