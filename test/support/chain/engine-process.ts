/** Finds the engine of the embedded chain: a child process of the service, without a port or a file of its own. */
import { readdirSync, readFileSync } from 'node:fs';

/** The pids of the engines that this process has started and that still run. Linux only. */
export function enginesOf(parentPid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parentPid && isEngine(pid));
}

/** Also true of an engine whose parent is gone; false of a zombie, which has no command line. */
export function isEngine(pid: number): boolean {
  return readText(`/proc/${pid}/cmdline`).includes('/embedded/engine/engine.process.ts');
}

function parentOf(pid: number): number | null {
  // The second field is the name of the program, which may contain anything.
  const [, parent] = /^\d+ \(.*\) \S+ (\d+)/s.exec(readText(`/proc/${pid}/stat`)) ?? [];
  return parent === undefined ? null : Number(parent);
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
