/** Slows down the machine on purpose: a busy loop per core, and constant writes to the disk. */
import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

export interface Stress {
  stop(): void;
}

const program = join(import.meta.dirname, 'stress.child.ts');

export function startStress(directory: string): Stress {
  const children: ChildProcess[] = [start('disk', directory)];
  for (let core = 0; core < availableParallelism(); core += 1) children.push(start('processor', directory));
  return {
    stop() {
      for (const child of children) child.kill('SIGKILL');
    },
  };
}

function start(what: 'processor' | 'disk', directory: string): ChildProcess {
  return spawn(process.execPath, [program, what, directory, String(process.pid)], { stdio: 'ignore' });
}
