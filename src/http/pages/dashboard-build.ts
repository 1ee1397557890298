/** Bundles the dashboard into dashboard/dist: one page, and scripts and styles with their hash in the name. */
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { moveIntoPlace } from './move-into-place.ts';

export const dashboardFolder = join(import.meta.dirname, '../../../dashboard');
const distFolder = join(dashboardFolder, 'dist');
/** Base path of everything but the page itself; must differ from the paths of pages, such as /assets. */
const filePath = '/static';

export async function buildDashboard(folder = distFolder): Promise<{ files: number; bytes: number }> {
  const { build, stop } = await import('esbuild');
  await mkdir(dirname(folder), { recursive: true });
  // Another process may be building or reading at the same time, so the result is moved into place as a whole.
  const fresh = await mkdtemp(`${folder}.`);
  try {
    // The account that the service runs as may be another one.
    await chmod(fresh, 0o755);
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
    await moveIntoPlace(fresh, folder);
    const sizes = Object.values(metafile.outputs).map(({ bytes }) => bytes);
    return { files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  } finally {
    await rm(fresh, { recursive: true, force: true });
    await stop();
  }
}
