/**
 * Compiles the sources for a package: Node.js reads no types below node_modules. Lines and columns stay as they are, so that a
 * stack names the line of the source.
 */
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, resolve } from 'node:path';

/** In an import, a dynamic import, or the address of a thread or a process. */
const named = /((?:from|import|new URL\()\s*\(?\s*['"])([^'"]+)\.ts(?=['"])/g;

/** In place: every file of the folder becomes JavaScript under the same name. */
export function compileSources(folder: string): void {
  for (const file of globSync('**/*.ts', { cwd: folder })) {
    const path = join(folder, file);
    const code = stripTypeScriptTypes(readFileSync(path, 'utf8')).replace(named, '$1$2.js');
    writeFileSync(path.replace(/\.ts$/, '.js'), code.replace(/[ \t]+$/gm, ''));
    rmSync(path);
  }
  for (const file of globSync('**/*.js', { cwd: folder })) requireTargets(join(folder, file));
}

function requireTargets(path: string): void {
  const targets = readFileSync(path, 'utf8').matchAll(/(?:from|new URL\()\s*\(?\s*['"](\.[^'"]+\.js)['"]/g);
  for (const [, target = ''] of targets) {
    if (!existsSync(resolve(dirname(path), target)))
      throw new Error(`${path} names ${target}, which is missing`);
  }
}
