/** Bundles the dashboard into dashboard/dist: one page, and scripts and styles with their hash in the name. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { type BuiltFolder, checkout, sourceFiles } from './built-folder.ts';

export const dashboardFolder = join(checkout, 'dashboard');
/** Base path of everything but the page itself; must differ from the paths of pages, such as /assets. */
const filePath = '/static';

const sources = [
  'dashboard/*.{html,json}',
  'dashboard/src/**',
  // What it shares with the service and the command line.
  'src/bulk/**',
  'src/events/catalogue.ts',
  'src/http/pages/dashboard-{build,table}.ts',
  'src/input/**',
  'src/proof/canonical.ts',
  'src/runtime/{json-fault,json-text,visible-text}.ts',
  'tsconfig.json',
];

export const dashboard: BuiltFolder = { root: checkout, folder: 'dashboard/dist', sources, build };

async function build(into: string): Promise<void> {
  const esbuild = await import('esbuild');
  try {
    await mkdir(into, { recursive: true });
    const { metafile } = await esbuild.build({
      absWorkingDir: dashboardFolder,
      entryPoints: ['src/main.tsx', 'src/style.css'],
      entryNames: '[name]-[hash]',
      chunkNames: '[name]-[hash]',
      outdir: join(into, 'static'),
      bundle: true,
      splitting: true,
      // Also selects the production build of the libraries.
      minify: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      jsx: 'automatic',
      legalComments: 'none',
      metafile: true,
      logLevel: 'warning',
    });
    requireListed(Object.keys(metafile.inputs));
    let html = await readFile(join(dashboardFolder, 'index.html'), 'utf8');
    for (const [output, { entryPoint }] of Object.entries(metafile.outputs)) {
      if (entryPoint) html = html.replace(`"${entryPoint}"`, `"${filePath}/${basename(output)}"`);
    }
    await writeFile(join(into, 'index.html'), html);
  } finally {
    await esbuild.stop();
  }
}

/** A change of a file that is not listed would leave an old dashboard in place. */
function requireListed(inputs: string[]): void {
  const listed = new Set(sourceFiles(dashboard));
  const missing = inputs
    .filter((input) => !input.includes('node_modules/'))
    .map((input) => relative(checkout, join(dashboardFolder, input)))
    .filter((file) => !listed.has(file));
  if (missing.length > 0)
    throw new Error(
      `Add what the dashboard uses to its sources, in dashboard-build.ts: ${missing.join(', ')}`,
    );
}
