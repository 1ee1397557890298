/** Lets programs in a folder import the clients by their names, from their sources: no package is built or installed. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const sources = {
  client: join(root, 'clients/typescript/src/main.ts'),
  verify: join(root, 'clients/typescript/verify/src/main.ts'),
};

/** Node.js takes TypeScript as it is only outside of node_modules, so what is in there leads out. */
export function linkClients(folder: string): void {
  for (const [name, source] of Object.entries(sources)) {
    const target = join(folder, 'node_modules/@holdfast', name);
    mkdirSync(target, { recursive: true });
    const manifest = {
      name: `@holdfast/${name}`,
      type: 'module',
      exports: './main.js',
      types: './main.d.ts',
    };
    writeFileSync(join(target, 'package.json'), JSON.stringify(manifest));
    const line = `export * from ${JSON.stringify(source)};\n`;
    for (const file of ['main.js', 'main.d.ts']) writeFileSync(join(target, file), line);
  }
}

/** For PYTHONPATH. */
export const pythonClients = ['clients/python', 'verifiers/python']
  .map((folder) => join(root, folder))
  .join(delimiter);
