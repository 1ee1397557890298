/**
 * Bundles the packages that compiled sources import. What is never imported stays behind, and a start reads a few hundred files
 * instead of several thousand. Fonts stay packages of their own, because they are opened by their path.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';

const root = resolve(import.meta.dirname, '../..');
/** In an import, an export from somewhere or a dynamic import of compiled code; a path of our own begins with a dot. */
const named = /(^(?:import|export)\s(?:[^'"`;]*?\sfrom\s)?\s*|\bimport\(\s*)(['"])([^'".][^'"]*)\2/gm;
const extension = '.mjs';
/** Loaded only to build what a package has already. */
const builders = new Set(['esbuild']);

/** Writes `packages/` in the folder, and makes every import below `src/` name its files. */
export async function bundlePackages(folder: string): Promise<void> {
  const sources = globSync('src/**/*.js', { cwd: folder }).sort();
  const specifiers = new Set(
    sources.flatMap((file) => [...imported(readFileSync(join(folder, file), 'utf8'))]),
  );
  await writeBundles(join(folder, 'packages'), [...specifiers].sort());
  for (const file of sources) {
    const path = join(folder, file);
    const code = readFileSync(path, 'utf8');
    const changed = code.replace(named, (whole, before: string, quote: string, specifier: string) => {
      if (!specifiers.has(specifier)) return whole;
      const target = relative(dirname(file), join('packages', bundleName(specifier) + extension));
      return `${before}${quote}${target}${quote}`;
    });
    if (changed !== code) writeFileSync(path, changed);
  }
}

function* imported(code: string): Generator<string> {
  for (const [, , , specifier = ''] of code.matchAll(named)) {
    if (!isBuiltin(specifier) && !builders.has(specifier)) yield specifier;
  }
}

const bundleName = (specifier: string) => specifier.replaceAll('/', '+').replace(/\.js$/, '');

async function writeBundles(target: string, specifiers: string[]): Promise<void> {
  await build({
    // Paths from here become part of the code, so nothing may depend on where the package is made.
    absWorkingDir: root,
    entryPoints: specifiers.map((specifier) => ({ in: `entry:${specifier}`, out: bundleName(specifier) })),
    plugins: [entries],
    outdir: target,
    outExtension: { '.js': extension },
    chunkNames: 'parts/[name]-[hash]',
    bundle: true,
    // What two packages share exists once, as when they are installed.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    keepNames: true,
    // Names stay, so that a stack can be read.
    minifyWhitespace: true,
    minifySyntax: true,
    // LICENSES.txt has the texts.
    legalComments: 'none',
    banner: {
      js: `import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);`,
    },
    logLevel: 'error',
  });
}

const entries: Plugin = {
  name: 'entries',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^entry:/ }, ({ path }) => ({
      path: path.slice('entry:'.length),
      namespace: 'entry',
    }));
    onLoad({ filter: /./, namespace: 'entry' }, async ({ path }) => ({
      contents: await entryText(path),
      resolveDir: root,
    }));
  },
};

/** Names are listed one by one: those of a CommonJS package are known only once it runs. */
async function entryText(specifier: string): Promise<string> {
  const names = Object.keys(await import(specifier)).filter((name) => /^[A-Za-z_$][\w$]*$/.test(name));
  const exported = names.filter((name) => name !== 'default' && name !== 'module.exports');
  return [
    `export { ${exported.join(', ')} } from '${specifier}';`,
    names.includes('default') ? `export { default } from '${specifier}';` : '',
  ].join('\n');
}
