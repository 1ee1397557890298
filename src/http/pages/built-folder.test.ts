/** What is built from sources: again when they change, and never half or twice. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { type BuiltFolder, buildAnew, buildIfChanged, isCurrent } from './built-folder.ts';

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-built-'));
});
after(() => rm(folder, { recursive: true, force: true }));

/** A checkout whose build joins its sources; `builds` counts. */
async function checkout(name: string) {
  const root = join(folder, name);
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  const state = { builds: 0 };
  const built: BuiltFolder = {
    root,
    folder: 'out',
    sources: ['in/**', 'settings.json'],
    async build(into) {
      state.builds += 1;
      const parts = (await readdir(join(root, 'in'))).sort();
      const texts = await Promise.all(parts.map((part) => readFile(join(root, 'in', part), 'utf8')));
      await writeFile(join(into, 'all'), texts.join('+'));
    },
  };
  await write('package-lock.json', '{}');
  await write('in/a', 'a');
  await write('in/b', 'b');
  const read = () => readFile(join(root, 'out/all'), 'utf8');
  return { root, write, built, state, read };
}

test('is built once, and again when a source was changed, added or removed, or a version of a package', async () => {
  const { root, write, built, state, read } = await checkout('changes');
  const changes: [string, () => Promise<void>, string][] = [
    ['changed', () => write('in/a', 'A'), 'A+b'],
    ['added', () => write('in/c', 'c'), 'A+b+c'],
    ['removed', () => rm(join(root, 'in/b')), 'A+c'],
    ['one that was not there', () => write('settings.json', '{}'), 'A+c'],
    ['another version', () => write('package-lock.json', '{"node":"25"}'), 'A+c'],
  ];
  assert.equal(isCurrent(built), false);
  assert.equal(await buildIfChanged(built), true);
  assert.equal(await read(), 'a+b');
  for (const [what, change, expected] of changes) {
    assert.equal(isCurrent(built), true, what);
    assert.equal(await buildIfChanged(built), false, what);
    const { builds } = state;
    await change();
    assert.equal(isCurrent(built), false, what);
    assert.equal(await buildIfChanged(built), true, what);
    assert.deepEqual([await read(), state.builds], [expected, builds + 1], what);
  }
});

test('neither a test nor the time of a file makes it an old one', async () => {
  const { write, built, state } = await checkout('same');
  await buildIfChanged(built);
  await write('in/a', 'a');
  await write('in/a.test.ts', 'a');
  await buildIfChanged(built);
  assert.equal(state.builds, 1);
});

test('a source that changes while it is read makes the result an old one', async () => {
  const { write, built, read } = await checkout('meanwhile');
  const build = async (into: string) => {
    await built.build(into);
    await write('in/a', 'later');
  };
  await buildIfChanged({ ...built, build });
  assert.equal(await read(), 'a+b');
  assert.equal(await buildIfChanged(built), true);
  assert.equal(await read(), 'later+b');
});

test('a build that fails leaves the last result, which stays an old one, and no other folder', async () => {
  const { root, write, built, read } = await checkout('fails');
  await buildIfChanged(built);
  await write('in/a', 'A');
  const build = async (into: string) => {
    await writeFile(join(into, 'all'), 'half');
    throw new Error('no');
  };
  await assert.rejects(buildIfChanged({ ...built, build }), /^Error: no$/);
  assert.equal(await read(), 'a+b');
  assert.equal(isCurrent(built), false);
  assert.deepEqual((await readdir(root)).sort(), ['in', 'out', 'package-lock.json']);
});

test('several builds at once leave one whole result', async () => {
  const { root, built, read } = await checkout('at-once');
  for (let round = 0; round < 5; round++) {
    await Promise.all(Array.from({ length: 8 }, () => buildAnew(built)));
    assert.equal(await read(), 'a+b');
    assert.equal(isCurrent(built), true);
    assert.deepEqual((await readdir(root)).sort(), ['in', 'out', 'package-lock.json']);
  }
});

test('what came without its own sources is up to date', async () => {
  const { root, write, built, state } = await checkout('release');
  await buildIfChanged(built);
  await write('settings.json', '{}');
  await rm(join(root, 'in'), { recursive: true });
  assert.equal(await buildIfChanged(built), false);
  assert.equal(state.builds, 1);
});
