/**
 * What is made from a checkout: the release, with the same bytes twice, and its package, which runs without a checkout, a
 * database or a compiler; what goes into the image; the Debian package. All but the second release have the documents and the
 * dashboard as they are built in the checkout.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, globSync, lstatSync, readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { buildPackage } from '../../deploy/debian/build.ts';
import { assemble } from '../../deploy/image/assemble.ts';
import { makeRelease } from '../../deploy/release/main.ts';
import { site } from '../../docs/build.ts';
import { buildIfChanged } from '../../src/http/pages/built-folder.ts';
import { needs, pathOf } from '../support/programs/needs.ts';
import { createTestDatabase } from '../support/service/database.ts';
import { environment, startUntil } from '../support/service/process.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
/** The package alone, without Node.js and PostgreSQL, which npm fetches for the platform. */
const mostBytes = 25_000_000;
/** What npm unpacks of it. */
const mostInstalledBytes = 45_000_000;
/** The image may have 350 MB, and its base has some 60. */
const mostImageBytes = 290_000_000;

/** Some of these write 300 MB: how long that takes is the disk's affair. */
const options = { timeout: 600_000 };

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
let folder = '';
let out = '';
let sums = '';

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-release-'));
  out = join(folder, 'one');
  await buildIfChanged(site);
  sums = await makeRelease({ out, packageOnly: true, parts: root });
}, options);

after(() => rm(folder, { recursive: true, force: true }));

test('a release is made twice with the same bytes, also by somebody else elsewhere', options, async () => {
  const again = join(folder, 'two');
  const command = `umask 077; exec "$0" deploy/release/main.ts --out "$1" --package-only --allow-changes`;
  await run('sh', ['-c', command, process.execPath, again], {
    cwd: root,
    env: environment({ TZ: 'Pacific/Kiritimati', LC_ALL: 'C', HOLDFAST_TEST_PACKAGES: '' }),
  });
  if ((await readFile(join(again, 'SHA256SUMS'), 'utf8')) !== sums)
    assert.deepEqual(await differing(out, again), [], 'these files differ');
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

test('a release names all packages with their licences', async () => {
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

test('the package runs without a checkout, a compiler and native packages', options, async (t) => {
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

test(
  'the service runs from what is copied into the image, which is enough and not much more',
  options,
  async (t) => {
    const app = join(folder, 'app');
    t.after(() => rm(app, { recursive: true }));
    await assemble(app, { parts: root });

    for (const name of ['typescript', 'playwright-core', 'react-dom', '@mantine/core'])
      assert.ok(!existsSync(join(app, 'node_modules', name)), name);
    const entries = globSync('**/*', { cwd: app, withFileTypes: true }).filter((entry) => entry.isFile());
    const bytes = entries.reduce(
      (sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size,
      0,
    );
    assert.ok(bytes < mostImageBytes, `${bytes} bytes`);

    await serveFrom(t, app, [
      '/readyz',
      '/sign-in',
      '/sign/some-token',
      '/portal/some-token',
      '/verify',
      '/docs',
    ]);
  },
);

needs('dpkg-deb').test('the service runs from the unpacked Debian package', options, async (t) => {
  const [file, unpacked] = [join(folder, 'holdfast.deb'), join(folder, 'root')];
  t.after(() => rm(unpacked, { recursive: true }));
  await buildPackage(file, { compression: ['-Znone'], parts: root });
  const ask = (...args: string[]) => execFileSync(pathOf('dpkg-deb'), args, { encoding: 'utf8' });
  assert.match(ask('--field', file, 'Version'), /^\d+\.\d+\.\d+\n$/);
  assert.match(ask('--ctrl-tarfile', file).slice(0, 4_000), /conffiles|control/);
  ask('--extract', file, unpacked);

  const mode = (path: string) => statSync(join(unpacked, path)).mode & 0o777;
  assert.equal(mode('etc/holdfast/holdfast.env'), 0o600);
  assert.equal(mode('usr/bin/holdfast'), 0o755);
  assert.equal(mode('lib/systemd/system/holdfast.service'), 0o644);
  assert.equal(mode('usr/share/man/man1/holdfast.1'), 0o644);
  assert.match(
    readFileSync(join(unpacked, 'usr/share/zsh/vendor-completions/_holdfast'), 'utf8'),
    /^#compdef/,
  );

  await serveFrom(t, join(unpacked, 'opt/holdfast'), ['/readyz']);
});

/** With its own database. */
async function serveFrom(t: TestContext, app: string, paths: string[]): Promise<void> {
  const home = await mkdtemp(join(folder, 'home-'));
  const settings = { HOLDFAST_DATA_DIR: join(home, 'data'), PORT: '0', HOLDFAST_TEST_PACKAGES: '' };
  const program = join(app, 'bin/holdfast');
  const { running, match } = await startUntil(/is ready at (\S+)/, { program, args: ['serve'], settings });
  t.after(() => running.child.kill('SIGKILL'));
  for (const path of paths) assert.equal((await fetch(match[1] + path)).status, 200, path);
  running.child.kill('SIGTERM');
  assert.equal(await running.exited, 0);
}
