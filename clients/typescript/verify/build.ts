/** Builds the package: one module without dependencies, and its types. `node build.ts FOLDER` */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';

const here = import.meta.dirname;

export async function buildVerify(folder: string): Promise<void> {
  await build({
    absWorkingDir: here,
    entryPoints: ['src/main.ts'],
    outfile: join(folder, 'main.js'),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2023',
    legalComments: 'eof',
    logLevel: 'warning',
  });
  const made = mkdtempSync(join(tmpdir(), 'holdfast-verify-types-'));
  try {
    const compiler = join(
      dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
      'bin/tsc',
    );
    const args = [compiler, '-p', join(here, 'tsconfig.build.json'), '--outDir', made];
    execFileSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    mkdirSync(folder, { recursive: true });
    // It names no type of another file.
    cpSync(join(made, 'clients/typescript/verify/src/main.d.ts'), join(folder, 'main.d.ts'));
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

if (import.meta.main) void buildVerify(resolve(process.argv[2] ?? join(here, 'dist')));
