/** How long each file took in its last run, stored for estimating the remaining time. */
import { mkdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FileRun } from './file-run.ts';
import { root } from './options.ts';

const path = join(root, 'node_modules/.cache/holdfast-test/times.json');
/** The estimate for a file that has never run. */
const usualSeconds = { test: 12, src: 3 };

let known: Record<string, number> | null = null;

export function fileWeight(file: string): number {
  known ??= read();
  return known[file] ?? (file.startsWith('test/') ? usualSeconds.test : usualSeconds.src);
}

export async function rememberTimes(runs: FileRun[]): Promise<void> {
  const times = { ...read(), ...Object.fromEntries(runs.map(({ file, seconds }) => [file, seconds])) };
  mkdirSync(dirname(path), { recursive: true });
  await writeFile(path, JSON.stringify(times));
}

function read(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
}
