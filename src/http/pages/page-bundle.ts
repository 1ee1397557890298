/**
 * Bundles a page from its sources when it is first requested: one script, one style sheet, and the HTML that names them.
 * It takes a fraction of a second and stays in memory, so a checkout has no build step: the bundle always matches the code
 * beside it. A package has the bundle, and neither the sources nor the bundler.
 */
import { existsSync } from 'node:fs';
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

/** The file in a package that has the bundle, as JSON with `html` and assets whose body is text. */
export const builtPage = 'built.json';

async function makeBundle(sources: PageSources): Promise<PageBundle> {
  const built = join(sources.folder, builtPage);
  if (!existsSync(built)) return buildPage(sources);
  const { html, assets } = JSON.parse(await readFile(built, 'utf8'));
  return {
    html,
    assets: new Map(
      assets.map(([name, type, body]: string[]) => [name, { type, body: Buffer.from(body ?? '') }]),
    ),
  };
}

export async function buildPage({ folder, entries, assetPath }: PageSources): Promise<PageBundle> {
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
