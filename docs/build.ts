/** Builds the site of the documents into docs/.vitepress/dist: runs when the package is installed from a checkout. */
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

export const siteFolder = join(import.meta.dirname, '.vitepress/dist');

/** Another process may be reading, so the result is moved into place as a whole. */
export async function buildSite(): Promise<void> {
  const { build } = await import('vitepress');
  const fresh = `${siteFolder}.${process.pid}`;
  try {
    await build(import.meta.dirname, { outDir: fresh });
    await rm(siteFolder, { recursive: true, force: true });
    await rename(fresh, siteFolder);
  } finally {
    await rm(fresh, { recursive: true, force: true });
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
