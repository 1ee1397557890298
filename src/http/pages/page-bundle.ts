/**
 * Bundles a page from its sources when it is first requested: one script, one style sheet, and the HTML that names them.
 * It takes a fraction of a second and stays in memory, so a checkout has no build step: the bundle always matches the code
 * beside it. A package has the bundle, and neither the sources nor the bundler.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

export interface PageBundle {
  html: string;
  /** By name; the name contains the hash of the content. */
  assets: Map<string, { type: string; body: Buffer }>;
  /** The service worker, if the page has one. */
  worker: string | null;
}

export interface PageSources {
  /** Contains index.html and the files that it names. */
  folder: string;
  /** Script and style sheet, as index.html names them. */
  entries: string[];
  /** Base path of the assets. */
  assetPath: string;
  worker?: WorkerSources;
}

interface WorkerSources {
  /** Its script in the folder. It finds what belongs to the page in `pageFiles`. */
  entry: string;
  /** The path that it is served at; below the folder of that, it may open pages. */
  url: string;
  /** The path of the page that it keeps. */
  page: string;
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
  const { html, assets, worker } = JSON.parse(await readFile(built, 'utf8'));
  return {
    html,
    worker,
    assets: new Map(
      assets.map(([name, type, body]: string[]) => [name, { type, body: Buffer.from(body ?? '') }]),
    ),
  };
}

export async function buildPage({ folder, entries, assetPath, worker }: PageSources): Promise<PageBundle> {
  const esbuild = await import('esbuild');
  let html = await readFile(join(folder, 'index.html'), 'utf8');
  try {
    const { outputFiles, metafile } = await esbuild.build({
      ...howToBundle(folder),
      entryPoints: entries,
      entryNames: '[name]-[hash]',
      metafile: true,
    });
    for (const [output, { entryPoint }] of Object.entries(metafile.outputs)) {
      if (entryPoint) html = html.replace(`"${entryPoint}"`, `"${assetPath}/${basename(output)}"`);
    }
    const assets = outputFiles.map(({ path, contents }) => {
      const type = path.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
      return [basename(path), { type, body: Buffer.from(contents) }] as const;
    });
    const names = assets.map(([name]) => `${assetPath}/${name}`);
    return {
      html,
      assets: new Map(assets),
      worker: worker ? await buildWorker(esbuild, { folder, worker, html, assets: names }) : null,
    };
  } finally {
    // Ends esbuild's process.
    await esbuild.stop();
  }
}

/** Its text changes with every version of the page: so browsers notice that there is a new one. */
async function buildWorker(
  { build }: Esbuild,
  made: { folder: string; worker: WorkerSources; html: string; assets: string[] },
): Promise<string> {
  const { folder, worker, html, assets } = made;
  const version = createHash('sha256').update(html).digest('hex').slice(0, 16);
  const { outputFiles } = await build({
    ...howToBundle(folder),
    entryPoints: [worker.entry],
    format: 'iife',
    define: { pageFiles: JSON.stringify({ version, page: worker.page, assets }) },
  });
  return outputFiles[0]?.text ?? '';
}

type Esbuild = typeof import('esbuild');

function howToBundle(folder: string) {
  return {
    absWorkingDir: folder,
    outdir: folder,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    legalComments: 'eof',
    write: false,
    logLevel: 'silent',
  } as const;
}
