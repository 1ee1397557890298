/** Bundles the dashboard into dashboard/dist: one page, and scripts and styles with their hash in the name. */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

export const dashboardFolder = join(import.meta.dirname, '../../../dashboard');
const distFolder = join(dashboardFolder, 'dist');
/** Base path of everything but the page itself; must differ from the paths of pages, such as /assets. */
const filePath = '/static';

export async function buildDashboard(): Promise<{ files: number; bytes: number }> {
  const { build, stop } = await import('esbuild');
  // Another process may be building or reading at the same time, so the result is moved into place as a whole.
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
