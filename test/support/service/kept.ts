/** Directories for what is made once per process and used by several test files; the run removes them. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function keptDirectory(prefix: string): string {
  return mkdtempSync(join(process.env.HOLDFAST_TEST_KEPT ?? tmpdir(), prefix));
}
