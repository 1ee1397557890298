/** Bundles the dashboard into dashboard/dist: one page, and scripts and styles whose names hold their hashes. */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

export const dashboardFolder = join(import.meta.dirname, '../../../dashboard');
const distFolder = join(dashboardFolder, 'dist');
/** Path below which everything but the page itself is served; no path of a page, as /assets would be. */
const filePath = '/static';

export async function buildDashboard(): Promise<{ files: number; bytes: number }> {
  const { build, stop } = await import('esbuild');
  // Another process may be at the same, or reading what is there: it is put in place whole.
  const fresh = `${distFolder}.${process.pid}`;
  try {
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { recursive: true });
    const { metafile } = await build({
      absWorkingDir: dashboardFolder,
      entryPoints: ['src/main.tsx', 'src/style.css'],
      entryNames: '[name]-[hash]',
      chunkNames: '[name]-[hash]',
      outdir: join(fresh, 'static'),
      bundle: true,
      splitting: true,
      // Also makes it the production build of its libraries.
      minify: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      jsx: 'automatic',
      legalComments: 'none',
      metafile: true,
      logLevel: 'warning',
    });
    let html = await readFile(join(dashboardFolder, 'index.html'), 'utf8');
    for (const [output, { entryPoint }] of Object.entries(metafile.outputs)) {
      if (entryPoint) html = html.replace(`"${entryPoint}"`, `"${filePath}/${basename(output)}"`);
    }
    await writeFile(join(fresh, 'index.html'), html);
    await rm(distFolder, { recursive: true, force: true });
    await rename(fresh, distFolder);
    const sizes = Object.values(metafile.outputs).map(({ bytes }) => bytes);
    return { files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  } finally {
    await rm(fresh, { recursive: true, force: true });
    await stop();
  }
}
