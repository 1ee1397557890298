/** Which command runs a test file, and whether in a process of its own: its path and the lines below its first comment say so. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const tiers = ['everyday', 'process', 'long'] as const;
export type Tier = (typeof tiers)[number];

export const tierCommand: Record<Tier, string> = {
  everyday: 'npm test',
  process: 'npm run test:process',
  long: 'npm run test:long',
};

const root = join(import.meta.dirname, '../..');
const longFolder = 'test/long/';

/** A file with a longer form (support/service/long.ts) is of two tiers. */
export function isOfTier(file: string, tier: Tier): boolean {
  if (file.startsWith(longFolder)) return tier === 'long';
  const text = textOf(file);
  if (tier === 'long') return text.includes("/service/long.ts'");
  return tier === (/^\/\/ tier: process$/m.test(headOf(text)) ? 'process' : 'everyday');
}

/** `// own process: REASON` is for what depends on the state of its process, such as its memory. What takes long gains nothing. */
export function needsOwnProcess(file: string): boolean {
  if (file.startsWith(longFolder)) return true;
  return /^\/\/ own process: \S/m.test(headOf(textOf(file)));
}

/** Whether it reads the documents as they are built. */
export function readsSite(file: string): boolean {
  return textOf(file).includes("/docs/build.ts'");
}

/** Up to the first import. */
function headOf(text: string): string {
  return text.split(/^import /m, 1)[0] ?? '';
}

function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
