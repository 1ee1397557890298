/**
 * Bundles packages that consist of hundreds of modules into a few files: a test process and each service that it starts
 * then needs half a second less processor time to load. The packages behave the same; `npm start` and `npm run
 * test:long` load them as installed.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './options.ts';

/** By import specifier. A test checks that none is missing: a package loaded in two ways would exist twice. */
export const bundledPackages = [
  'better-auth',
  'better-auth/api',
  'better-auth/cookies',
  'better-auth/plugins/two-factor',
  'kysely',
  'prom-client',
  'typebox',
  'typebox/value',
  'undici',
  'viem',
  'viem/accounts',
  'viem/chains',
  'viem/utils',
];

const cache = join(root, 'node_modules/.cache/holdfast-test');

/** The directory of the bundles, rebuilt when the installed packages changed; null if the build fails. */
export async function bundlePackages(): Promise<string | null> {
  const place = join(cache, `packages-${fingerprint()}`);
  if (existsSync(place)) return place;
  const draft = `${place}.${process.pid}`;
  try {
    await mkdir(draft, { recursive: true });
    await build(draft);
    // Another run in this checkout may have been first; either result works.
    await rename(draft, place).catch((error) => {
      if (!existsSync(place)) throw error;
    });
    return place;
  } catch (error) {
    // Bundles only save time, so a run continues without them.
    process.stderr.write(`Packages are loaded as they are installed: ${error}\n`);
    return null;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** The preload finds a package by its file name. */
function bundleName(specifier: string): string {
  return `${specifier.replaceAll('/', '+')}.mjs`;
}

async function build(directory: string): Promise<void> {
  const entries = join(directory, 'entries');
  await mkdir(entries);
  for (const specifier of bundledPackages)
    await writeFile(join(entries, bundleName(specifier)), await entryText(specifier));
  const { build } = await import('esbuild');
  await build({
    entryPoints: bundledPackages.map((specifier) => join(entries, bundleName(specifier))),
    outdir: directory,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'parts/[name]-[hash]',
    bundle: true,
    // Code shared by two packages exists once, as when they are loaded separately.
    splitting: true,
    format: 'esm',
    platform: 'node',
    keepNames: true,
    nodePaths: [join(root, 'node_modules')],
    banner: {
      js: `import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);`,
    },
    logLevel: 'error',
  });
  await rm(entries, { recursive: true });
}

/** Names are listed individually: those of a CommonJS package are known only once it runs. */
async function entryText(specifier: string): Promise<string> {
  const names = Object.keys(await import(specifier)).filter((name) => /^[A-Za-z_$][\w$]*$/.test(name));
  const exported = names.filter((name) => name !== 'default' && name !== 'module.exports');
  return [
    `import * as all from '${specifier}';`,
    `export { ${exported.join(', ')} } from '${specifier}';`,
    names.includes('default') ? 'export default all.default;' : '',
  ].join('\n');
}

function fingerprint(): string {
  const hash = createHash('sha256').update(process.version);
  for (const file of ['package-lock.json', 'test/runner/packages.ts'])
    hash.update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 16);
}
