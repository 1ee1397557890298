/** Builds the site of the documents into docs/.vitepress/dist: runs when the package is installed from a checkout. */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { moveIntoPlace } from '../src/http/pages/move-into-place.ts';

export const siteFolder = join(import.meta.dirname, '.vitepress/dist');

/** Another process may be building or reading, so the result is moved into place as a whole. */
export async function buildSite(folder = siteFolder): Promise<void> {
  const { build } = await import('vitepress');
  await mkdir(dirname(folder), { recursive: true });
  const fresh = await mkdtemp(`${folder}.`);
  // What renders the pages must find its packages, so it lies in the checkout, and not in a folder that others use too.
  const tempDir = await mkdtemp(`${siteFolder}.rendering-`);
  try {
    // The account that the service runs as may be another one.
    await chmod(fresh, 0o755);
    await build(import.meta.dirname, {
      outDir: fresh,
      onAfterConfigResolve(site) {
        site.tempDir = tempDir;
      },
    });
    await moveIntoPlace(fresh, folder);
  } finally {
    for (const made of [fresh, tempDir]) await rm(made, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  // Left out with the other development dependencies, VitePress is not missed: the service leads to the reference.
  const left = await import('vitepress').then(
    () => false,
    () => true,
  );
  if (!left) await buildSite();
}
