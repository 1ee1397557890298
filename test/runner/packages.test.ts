/** The bundled packages of the test runner, against the installed ones. */
// tier: process
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { root } from './options.ts';
import { bundledPackages, bundlePackages } from './packages.ts';

test('bundles a package under every specifier by which it is imported', () => {
  const imported = globSync('{src,test,bench}/**/*.ts', { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\b(?:from|import\()\s*'([\w@][^']*)'/g)].map(
      ([, specifier = '']) => specifier,
    ),
  );
  const isOf = (specifier: string) =>
    bundledPackages.some((name) => name.split('/')[0] === specifier.split('/')[0]);
  const missing = [...new Set(imported)].filter((name) => isOf(name) && !bundledPackages.includes(name));
  assert.deepEqual(missing, []);
  assert.deepEqual(
    bundledPackages.filter((name) => !imported.includes(name)),
    [],
    'and none that nobody imports',
  );
});

test('bundled packages export the same names as installed ones', async () => {
  const directory = await bundlePackages();
  assert.ok(directory);
  const bundled = await namesOf(bundledPackages.map((name) => join(directory, fileOf(name))));
  assert.deepEqual(bundled, await namesOf(bundledPackages));
});

function fileOf(name: string): string {
  return `${name.replaceAll('/', '+')}.mjs`;
}

/** Runs in a process without bundles; a CommonJS package also exports itself as a whole. */
async function namesOf(modules: string[]): Promise<string[][]> {
  const text = `
    const modules = await Promise.all(${JSON.stringify(modules)}.map((name) => import(name)));
    const isName = (name) => name !== 'module.exports' && name !== '__esModule';
    console.log(JSON.stringify(modules.map((one) => Object.keys(one).filter(isName).sort())));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', text], {
    cwd: root,
    env: { ...process.env, HOLDFAST_TEST_PACKAGES: '' },
    maxBuffer: 10_000_000,
  });
  return JSON.parse(stdout);
}
