/** Builds that finish at the same time: one of them remains, whole, and nothing of the others. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { moveIntoPlace } from './move-into-place.ts';

test('of several builds at once one remains, whole', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-builds-'));
  t.after(() => rm(folder, { recursive: true }));
  const place = join(folder, 'dist');
  for (let round = 0; round < 20; round += 1) {
    const builds = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        const fresh = join(folder, `dist.${name}`);
        await mkdir(join(fresh, 'static'), { recursive: true });
        for (const file of ['index.html', 'static/main.js']) await writeFile(join(fresh, file), name);
        return fresh;
      }),
    );
    await Promise.all(builds.map((fresh) => moveIntoPlace(fresh, place)));
    assert.deepEqual(await readdir(folder), ['dist']);
    const page = await readFile(join(place, 'index.html'), 'utf8');
    assert.equal(await readFile(join(place, 'static/main.js'), 'utf8'), page);
  }
});

test('a place that cannot be written to is an error', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-builds-'));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'fresh'));
  await writeFile(join(folder, 'file'), '');
  await assert.rejects(moveIntoPlace(join(folder, 'fresh'), join(folder, 'file/dist')), { code: 'ENOTDIR' });
});
