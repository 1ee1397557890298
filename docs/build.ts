/** Builds the site of the documents into docs/.vitepress/dist: runs when the package is installed from a checkout. */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuiltFolder, buildIfChanged, checkout } from '../src/http/pages/built-folder.ts';

export const site: BuiltFolder = {
  root: checkout,
  folder: 'docs/.vitepress/dist',
  sources: [
    'docs/build.ts',
    'docs/**/*.md',
    'docs/public/**',
    'docs/.vitepress/*.{json,ts}',
    'docs/.vitepress/theme/**',
  ],
  async build(into) {
    const { build } = await import('vitepress');
    // What renders the pages must find its packages, so it lies in the checkout; each build removes its own.
    const tempDir = await mkdtemp(join(import.meta.dirname, '.vitepress/dist.rendering-'));
    try {
      await build(import.meta.dirname, {
        outDir: into,
        onAfterConfigResolve(config) {
          config.tempDir = tempDir;
        },
      });
    } finally {
      await rm(tempDir, { recursive: true, force: true });
    }
  },
};

async function main(): Promise<void> {
  // Left out with the other development dependencies, VitePress is not missed: the service leads to the reference.
  const left = await import('vitepress').then(
    () => false,
    () => true,
  );
  if (!left) await buildIfChanged(site);
}

if (import.meta.main) void main();
