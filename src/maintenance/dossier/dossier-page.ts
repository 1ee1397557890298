/**
 * The page in a dossier that checks it: one HTML file with its script and style inside, because a page opened from disk may
 * load no other files. Built from its sources when the first dossier is requested; a package has it built.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../../../pages/dossier');

/** In a package. */
const builtPage = join(folder, 'built.html');

/** A failed build is retried with the next dossier. */
export function createDossierPage(): () => Promise<string> {
  let made: Promise<string> | null = null;
  return () => {
    made ??= (existsSync(builtPage) ? readFile(builtPage, 'utf8') : buildDossierPage()).catch((error) => {
      made = null;
      throw error;
    });
    return made;
  };
}

export async function buildDossierPage(): Promise<string> {
  const { build, stop } = await import('esbuild');
  const html = await readFile(join(folder, 'index.html'), 'utf8');
  try {
    const { outputFiles } = await build({
      absWorkingDir: folder,
      entryPoints: ['main.ts', 'dossier.css'],
      outdir: folder,
      bundle: true,
      minify: true,
      format: 'iife',
      platform: 'browser',
      target: 'es2023',
      charset: 'ascii',
      legalComments: 'eof',
      write: false,
      logLevel: 'silent',
    });
    const textOf = (ending: string) =>
      outputFiles.find(({ path }) => path.endsWith(ending))?.text.replaceAll('</', '<\\/') ?? '';
    const script = textOf('.js');
    const style = textOf('.css');
    // Functions, because replacement strings have special patterns.
    return html
      .replace(
        '<!-- policy -->',
        () => `<meta http-equiv="Content-Security-Policy" content="${policy(script, style)}">`,
      )
      .replace('<!-- style -->', () => `<style>${style}</style>`)
      .replace('<!-- script -->', () => `<script>${script}</script>`);
  } finally {
    // The build process is no longer needed.
    await stop();
  }
}

/** Only what is in the page may run, and it connects only to the chain node that the reader chooses. */
function policy(script: string, style: string): string {
  return [
    "default-src 'none'",
    // WebAssembly hashes files; it is embedded in the script.
    `script-src '${digestOf(script)}' 'wasm-unsafe-eval'`,
    `style-src '${digestOf(style)}'`,
    'img-src data:',
    'connect-src https: http://127.0.0.1:* http://localhost:*',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

function digestOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
