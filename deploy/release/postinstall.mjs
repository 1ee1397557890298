/** After npm installed the package: removes what comes with Node.js and is never read here (headers, npm, documentation): 65 MB. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Only below our own folder: elsewhere, others may use it. It may run under any Node.js that npm runs under. */
const modules = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../node_modules');
for (const name of existsSync(modules) ? readdirSync(modules) : []) {
  const folder = join(modules, name);
  if (!/^node-(linux|darwin)-/.test(name) || !existsSync(join(folder, 'bin/node'))) continue;
  for (const part of ['include', 'lib', 'share', 'CHANGELOG.md', 'README.md'])
    rmSync(join(folder, part), { recursive: true, force: true });
}
