/** A copy of the checkout as it is now, in which files can be changed without anybody noticing. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

export interface Checkout {
  folder: string;
  remove(): void;
}

/** What git knows or would take; dependencies and the built dashboard are only pointed to. */
export function copyCheckout(): Checkout {
  const folder = mkdtempSync(join(tmpdir(), 'hf-mutant-'));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: root,
      maxBuffer: 64 * 1024 * 1024,
    });
    const deleted = execFileSync('git', ['ls-files', '-z', '--deleted'], { cwd: root });
    const gone = new Set(deleted.toString().split('\0'));
    for (const file of listed.toString().split('\0')) {
      if (file === '' || gone.has(file)) continue;
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      copyFileSync(join(root, file), join(folder, file));
    }
    symlinkSync(join(root, 'dashboard/dist'), join(folder, 'dashboard/dist'));
    // Each by itself: what a run keeps beside them, such as compiled code and times, is not that of the checkout.
    mkdirSync(join(folder, 'node_modules'));
    for (const name of readdirSync(join(root, 'node_modules'))) {
      if (name !== '.cache')
        symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    }
    return { folder, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
