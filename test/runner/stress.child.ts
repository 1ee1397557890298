/** A process of stress.ts; exits by itself when its parent is gone. */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const [what, directory = '.', parent] = process.argv.slice(2);
const block = Buffer.alloc(4 * 1024 * 1024, 1);
const blocksInFile = 16;

if (what === 'disk') writeForEver();
else computeForEver();

function computeForEver(): void {
  while (String(process.ppid) === parent) for (let step = 0; step < 1e7; step += 1);
}

/** Overwrites the same file again and again: each flush blocks the disk for everybody else. */
function writeForEver(): void {
  const file = openSync(join(directory, 'stress'), 'w');
  for (let count = 0; String(process.ppid) === parent; count += 1) {
    writeSync(file, block, 0, block.length, (count % blocksInFile) * block.length);
    fsyncSync(file);
  }
  closeSync(file);
}
