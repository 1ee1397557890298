/**
 * Bundles a page from its sources when it is first requested: one script, one style sheet, and the HTML that names them.
 * It takes a fraction of a second and stays in memory, so there is no build step: the bundle always matches the code
 * beside it.
 */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

export interface PageBundle {
  html: string;
  /** By name; the name contains the hash of the content. */
  assets: Map<string, { type: string; body: Buffer }>;
}

export interface PageSources {
  /** Contains index.html and the files that it names. */
  folder: string;
  /** Script and style sheet, as index.html names them. */
  entries: string[];
  /** Base path of the assets. */
  assetPath: string;
}

/** A failed build is retried with the next request. */
export function createPageBundle(sources: PageSources): () => Promise<PageBundle> {
  let made: Promise<PageBundle> | null = null;
  return () => {
    made ??= makeBundle(sources).catch((error) => {
      made = null;
      throw error;
    });
    return made;
  };
}

async function makeBundle({ folder, entries, assetPath }: PageSources): Promise<PageBundle> {
  const { build, stop } = await import('esbuild');
  let html = await readFile(join(folder, 'index.html'), 'utf8');
  try {
    const { outputFiles, metafile } = await build({
      absWorkingDir: folder,
      entryPoints: entries,
      entryNames: '[name]-[hash]',
      outdir: folder,
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2023',
      legalComments: 'eof',
      write: false,
      metafile: true,
      logLevel: 'silent',
    });
    for (const [output, { entryPoint }] of Object.entries(metafile.outputs)) {
      if (entryPoint) html = html.replace(`"${entryPoint}"`, `"${assetPath}/${basename(output)}"`);
    }
    const assets = outputFiles.map(({ path, contents }) => {
      const type = path.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
      return [basename(path), { type, body: Buffer.from(contents) }] as const;
    });
    return { html, assets: new Map(assets) };
  } finally {
    // Ends esbuild's process.
    await stop();
  }
}
