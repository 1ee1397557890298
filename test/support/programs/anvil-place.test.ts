/** Where the tests search for anvil. */
import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { findAnvil } from './anvil-place.ts';

const path = process.env.PATH;
let dir: string;
let from: string;

beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-anvil-')));
  from = join(dir, 'service.ts');
  process.env.PATH = join(dir, 'path');
});

afterEach(async () => {
  process.env.PATH = path;
  await rm(dir, { recursive: true, force: true });
});

test('prefers the program that npm installed to one on the PATH', async () => {
  await programAt('path/anvil');
  const installed = await installPackage();
  assert.equal(findAnvil({ from }), installed);
});

test('uses the program on the PATH if the package is missing', async () => {
  const onPath = await programAt('path/anvil');
  assert.equal(findAnvil({ from }), onPath);
});

test('uses the program on the PATH if that of the package cannot run', async () => {
  const onPath = await programAt('path/anvil');
  await chmod(await installPackage(), 0o600);
  assert.equal(findAnvil({ from }), onPath);
});

test('finds nothing if there is neither', async () => {
  await mkdir(join(dir, 'path/anvil'), { recursive: true });
  assert.equal(findAnvil({ from }), null);
});

async function installPackage(): Promise<string> {
  const program = await programAt('node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil');
  const manifest = { name: '@foundry-rs/anvil-linux-amd64', version: '1.7.1', bin: { anvil: './bin/anvil' } };
  await writeFile(join(dirname(program), '../package.json'), JSON.stringify(manifest));
  return program;
}

async function programAt(place: string): Promise<string> {
  const program = join(dir, place);
  await mkdir(dirname(program), { recursive: true });
  await writeFile(program, '#!/bin/sh\n', { mode: 0o755 });
  return program;
}
